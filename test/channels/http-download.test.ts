import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openDownload } from '../../src/channels/http/download.ts'
import { FileUnavailable } from '../../src/channels/provider.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { listen } from '../support/loopback.ts'

test('a response that switches protocols makes the file unavailable', async () => {
  const switching = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'),
    )
  })
  const url = new URL(`http://127.0.0.1:${await listen(switching)}/`)
  const opening = openDownload({ url, headers: {}, clock: createFakeClock() }, new AbortController().signal)
  await expect(opening).rejects.toThrow(FileUnavailable)
  const closed = once(switching, 'close')
  switching.close()
  await closed
})

test('a connection that is not established in time fails with CONNECT_TIMEOUT', async () => {
  const silent = createServer(socket => socket.on('error', () => {}).resume())
  const url = new URL(`https://127.0.0.1:${await listen(silent)}/`)
  const clock = createFakeClock()
  const reached = once(silent, 'connection')
  const opening = openDownload({ url, headers: {}, clock }, new AbortController().signal)
  const rejection = expect(opening).rejects.toThrow('the provider was not reached (CONNECT_TIMEOUT)')
  await reached
  await clock.advance(5_000)
  await rejection
  const closed = once(silent, 'close')
  silent.close()
  await closed
})
