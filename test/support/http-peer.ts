import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'
import type { Peer } from '../channels/conformance.ts'
import { freePort, listen } from './loopback.ts'
import { createSignals } from './signals.ts'

export type PeerRequest = {
  method: string
  /** Including the query. */
  path: string
  headers: IncomingMessage['headers']
  body: string
}

/** What the peer does after it has read a whole request. */
export type PeerAct =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Never answers. */
  | 'silent'
  /** Resets the connection. */
  | 'reset'
  /** Sends these bytes, which need not be HTTP, and closes. */
  | { raw: string }

export type HttpPeer = Peer & {
  url: string
  requests: PeerRequest[]
  /** The number of connections accepted so far. */
  connections(): number
}

/** An HTTP server on the loopback that handles each request as `act` says. */
export async function startHttpPeer(
  act: (request: PeerRequest, nth: number) => PeerAct,
  tls?: { key: string; cert: string },
): Promise<HttpPeer> {
  const requests: PeerRequest[] = []
  const signals = createSignals()
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const whole = { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') }
      requests.push(whole)
      const what = act(whole, requests.length)
      if (what === 'reset') request.socket.resetAndDestroy()
      else if (typeof what === 'object' && 'raw' in what) request.socket.end(what.raw)
      else if (what !== 'silent') response.writeHead(what.status, what.headers).end(what.body ?? '')
      signals.notify()
    })
  }
  const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener)
  const sockets = watch(server, signals.notify)
  const port = await listen(server)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    connections: () => sockets.taken,
    connected: count => signals.until(() => sockets.taken >= count),
    submitted: count => signals.until(() => requests.length >= count),
    submits: () => requests.length,
    idle: () => signals.until(() => sockets.open.size === 0),
    close: () => closeAll(server, sockets.open),
  }
}

/** Accepts connections and sends nothing: with TLS, the handshake is never answered. */
export async function startMutePeer(): Promise<HttpPeer> {
  const signals = createSignals()
  const server = createServer(socket => socket.resume().on('error', () => {}))
  const sockets = watch(server, signals.notify)
  const port = await listen(server)
  return {
    url: `https://127.0.0.1:${port}`,
    requests: [],
    connections: () => sockets.taken,
    connected: count => signals.until(() => sockets.taken >= count),
    submitted: () => Promise.resolve(),
    submits: () => 0,
    idle: () => signals.until(() => sockets.open.size === 0),
    close: () => closeAll(server, sockets.open),
  }
}

/** A peer that does not listen. */
export async function nobodyListens(): Promise<HttpPeer> {
  const done = () => Promise.resolve()
  const url = `http://127.0.0.1:${await freePort()}`
  return {
    url,
    requests: [],
    connections: () => 0,
    connected: done,
    submitted: done,
    submits: () => 0,
    idle: done,
    close: done,
  }
}

function watch(server: Server, notify: () => void): { open: Set<Socket>; taken: number } {
  const sockets = { open: new Set<Socket>(), taken: 0 }
  server.on('connection', socket => {
    sockets.open.add(socket)
    sockets.taken++
    socket.on('close', () => {
      sockets.open.delete(socket)
      notify()
    })
    notify()
  })
  return sockets
}

async function closeAll(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const socket of open) socket.destroy()
  await closed
}
