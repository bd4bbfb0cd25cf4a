import { expect, test } from 'vitest'
import { loadBaileys } from '../../../src/channels/whatsapp-web/library.ts'
import { createIo } from '../conformance.ts'

test('what its cryptography writes to the console goes to the log, without its keys', async () => {
  const io = createIo()
  await loadBaileys(io.log)
  console.info('Closing session:', { privKey: Buffer.from('secret') })
  console.warn({ privKey: 'secret' })
  expect(io.logged).toEqual([{ fields: { from: 'libsignal' }, text: 'Closing session:' }])
})
