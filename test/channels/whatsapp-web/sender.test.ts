import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Line } from '../../../src/channels/whatsapp-web/line.ts'
import { createSender } from '../../../src/channels/whatsapp-web/sender.ts'
import { createIo, never, outgoing } from '../conformance.ts'

test('a text beside an audio file is rejected before anything is uploaded', async () => {
  const unexpected = () => {
    throw new Error('nothing is asked or uploaded')
  }
  const send = createSender({
    log: createIo().log,
    compose: unexpected,
    isRegistered: unexpected,
    rememberSent: unexpected,
    reportLateOutcome: unexpected,
  })
  const recording = {
    type: 'audio',
    mimetype: 'audio/ogg',
    fileName: 'note.ogg',
    open: async () => Readable.from([]),
  } as const
  expect(await send({} as Line, outgoing(1, { text: 'Listen', files: [recording] }), never())).toEqual({
    kind: 'rejected',
    code: 'MESSAGE_REJECTED',
    detail: 'An audio message cannot have a caption on WhatsApp.',
  })
})
