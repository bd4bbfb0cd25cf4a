import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { continueWhenRead, isBodyUnsent } from '../../../src/http/expect-continue.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const response = { headersSent: false, writeContinue: () => undefined } as unknown as ServerResponse

test('a connection keeps nothing of the requests that it carried, and closes after any number of them', () => {
  const closed: string[] = []
  const socket = {
    destroySoon: () => closed.push('soon'),
    end: () => closed.push('ended'),
    once: () => undefined,
  }
  const request = () =>
    ({ socket, readableLength: 0, _read: () => undefined }) as unknown as IncomingMessage & {
      _read(size: number): void
    }
  for (let n = 0; n < 20_000; n++) {
    const answered = request()
    continueWhenRead(answered, response, createFakeClock())
    answered._read(1)
    expect(isBodyUnsent(answered)).toBe(false)
  }
  socket.destroySoon()
  expect(closed).toEqual(['soon'])
})
