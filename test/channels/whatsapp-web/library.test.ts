import { buffer } from 'node:stream/consumers'
import { downloadEncryptedContent, getMediaKeys } from 'baileys'
import { afterEach, expect, test, vi } from 'vitest'
import { guardDownloads } from '../../../src/channels/whatsapp-web/guard-downloads.ts'
import { startHttpPeer } from '../../support/http-peer.ts'
import { createIo } from '../conformance.ts'

const { log, info, warn, error } = console
afterEach(() => void Object.assign(console, { log, info, warn, error }))

test('console output of libsignal goes to the log, without keys', async () => {
  const io = createIo()
  // The console is redirected at the first load, which may have happened in another test file of this process.
  vi.resetModules()
  const { loadBaileys } = await import('../../../src/channels/whatsapp-web/library.ts')
  await loadBaileys(io.log)
  console.info('Closing session:', { privKey: Buffer.from('secret') })
  console.warn({ privKey: 'secret' })
  expect(io.logged).toEqual([{ fields: { from: 'libsignal' }, text: 'Closing session:' }])
})

test('a truncated download of the library fails while it is read, and nothing else fails', async () => {
  const peer = await startHttpPeer(() => ({ raw: 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsealed' }))
  const { fetch } = globalThis
  globalThis.fetch = guardDownloads(fetch, ({ hostname }) => hostname === '127.0.0.1')
  try {
    const keys = await getMediaKeys(Buffer.alloc(32), 'md-msg-hist')
    const bytes = await downloadEncryptedContent(`${peer.url}/history`, keys, {})
    await expect(buffer(bytes)).rejects.toThrow()
  } finally {
    globalThis.fetch = fetch
    await peer.close()
  }
})
