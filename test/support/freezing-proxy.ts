import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type FreezingProxy = {
  /** The database's URL by way of the proxy. */
  url: string
  /** From now on nothing passes on the connections there are: open to both ends, dead between. */
  freeze(): void
  close(): Promise<void>
}

/** A TCP proxy before PostgreSQL that makes connections half-open. */
export async function startFreezingProxy(databaseUrl: string): Promise<FreezingProxy> {
  const target = targetOf(new URL(databaseUrl))
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(target)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', bytes => to.write(bytes))
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  url.searchParams.delete('host')
  url.searchParams.delete('port')

  return {
    url: url.href,
    freeze() {
      for (const socket of sockets) socket.removeAllListeners('data')
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function targetOf(url: URL): { path: string } | { host: string; port: number } {
  const socketDir = url.searchParams.get('host')
  const port = Number(url.searchParams.get('port') || url.port || 5432)
  return socketDir ? { path: `${socketDir}/.s.PGSQL.${port}` } : { host: url.hostname, port }
}
