import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificate.ts'
import { listen } from './loopback.ts'

/** One connection with binary messages (RFC 6455; no fragments, no extensions). */
export type ServerSocket = {
  send(data: Buffer): void
  /** Closes with a close frame. */
  close(): void
  /** Closes it abruptly. */
  destroy(): void
}

export type SocketHandlers = { message(data: Buffer): void; closed(): void }

/** A WebSocket server on a free port of the loopback. */
export async function startWebSocketServer(
  open: (socket: ServerSocket) => SocketHandlers,
  tls?: Certificate,
): Promise<{ url: string; port: number; http: Server; close(): Promise<void> }> {
  const http = tls ? createTlsServer({ key: tls.key, cert: tls.cert }) : createServer()
  const sockets = new Set<Duplex>()
  http.on('upgrade', (request, socket: Duplex) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    sockets.add(socket)
    serve(socket, open, () => sockets.delete(socket))
  })
  const port = await listen(http)
  return {
    url: `${tls ? 'wss' : 'ws'}://localhost:${port}/ws`,
    port,
    http,
    async close() {
      for (const socket of sockets) socket.destroy()
      http.closeAllConnections()
      await new Promise(resolve => http.close(resolve))
    },
  }
}

const TEXT_OR_BINARY = new Set([1, 2])
const CLOSE = 8
const PING = 9
const PONG = 10

function serve(socket: Duplex, open: (socket: ServerSocket) => SocketHandlers, gone: () => void): void {
  let held = Buffer.alloc(0)
  const handlers = open({
    send: data => void socket.write(frame(2, data)),
    close: () => void socket.end(frame(CLOSE, Buffer.from([3, 232]))),
    destroy: () => void socket.destroy(),
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    gone()
    handlers.closed()
  })
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (let read = readFrame(held); read; read = readFrame(held)) {
      held = held.subarray(read.size)
      if (TEXT_OR_BINARY.has(read.code)) handlers.message(read.data)
      else if (read.code === PING) socket.write(frame(PONG, read.data))
      else if (read.code === CLOSE) socket.end(frame(CLOSE, read.data))
    }
  })
}

function frame(code: number, data: Buffer): Buffer {
  const head = [0x80 | code]
  if (data.length < 126) head.push(data.length)
  else if (data.length < 65_536) head.push(126, data.length >> 8, data.length & 0xff)
  else head.push(127, 0, 0, 0, 0, ...[24, 16, 8, 0].map(shift => (data.length >>> shift) & 0xff))
  return Buffer.concat([Buffer.from(head), data])
}

function readFrame(held: Buffer): { code: number; data: Buffer; size: number } | null {
  if (held.length < 2) return null
  const short = held[1]! & 0x7f
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const maskAt = 2 + lengthBytes
  if (held.length < maskAt + 4) return null
  const length =
    lengthBytes === 0 ? short : held.readUIntBE(maskAt - Math.min(lengthBytes, 6), Math.min(lengthBytes, 6))
  const size = maskAt + 4 + length
  if (held.length < size) return null
  const mask = held.subarray(maskAt, maskAt + 4)
  const data = Buffer.from(held.subarray(maskAt + 4, size))
  for (let at = 0; at < data.length; at++) data[at]! ^= mask[at & 3]!
  return { code: held[0]! & 0x0f, data, size }
}
