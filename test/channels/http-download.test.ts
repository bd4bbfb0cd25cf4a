import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openDownload } from '../../src/channels/http/download.ts'
import { FileUnavailable } from '../../src/channels/provider.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { listen } from '../support/loopback.ts'

test('an answer that would speak another protocol brings no file, and is not waited for', async () => {
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
