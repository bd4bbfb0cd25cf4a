import { once } from 'node:events'
import { createServer } from 'node:net'

/** Rejects, as a server's own listen would, if this process cannot listen on the address now. */
export async function checkAddress(address: { host: string; port: number }): Promise<void> {
  const server = createServer()
  server.listen(address)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
