import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Listens on the loopback, on a free port unless one is given; returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  const closed = once(server, 'close')
  server.close()
  await closed
  return port
}
