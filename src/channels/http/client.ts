import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'

export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path and query. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | StreamedBody
}

/**
 * A body that is streamed. The request is cut if the stream fails or is shorter than `lengthBytes`.
 * Without a length it is sent chunked; the caller must then abort the request if the stream is incomplete.
 */
export type StreamedBody = { bytes: Readable; lengthBytes: number | null }

export type Answer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer }

/** The result of a request; `code` is a word such as ECONNREFUSED, never an address. */
export type Exchange =
  | { kind: 'answer'; answer: Answer }
  /** Not connected: no byte of the request was sent. */
  | { kind: 'unsent'; code: string }
  /** The request may have arrived; no complete answer came back. */
  | { kind: 'lost'; code: string }

export type HttpClient = {
  /** Makes one request; settles soon after `signal` aborts. Redirects are not followed. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>
  /** Cuts every connection. */
  close(): void
}

/** For TCP and TLS: a host that drops packets, or a stuck TLS handshake, must not hold a message for long. */
export const CONNECT_MS = 5_000
/** Shorter than servers keep idle connections, so that a request is seldom sent on one that is being closed. */
const IDLE_MS = 4_000
/** Answers of provider APIs are some hundred bytes. */
const MAX_ANSWER_BYTES = 262_144
/** The code of an answer longer than allowed: the server has answered, and the caller may request less data. */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE'

/** An HTTP client for one origin, with at most `connections` keep-alive connections. */
export function createHttpClient(options: {
  origin: URL
  connections: number
  clock: Clock
  /** PEM of a certificate authority to trust instead of the public ones. */
  tlsCa?: string | undefined
  /** The longest answer that is read, in bytes. */
  mostAnswerBytes?: number
}): HttpClient {
  const { origin, clock, mostAnswerBytes = MAX_ANSWER_BYTES } = options
  const secure = origin.protocol === 'https:'
  const pool = {
    keepAlive: true,
    maxSockets: options.connections,
    maxFreeSockets: options.connections,
    timeout: IDLE_MS,
  }
  const agent = secure
    ? new https.Agent({ ...pool, ...(options.tlsCa !== undefined && { ca: options.tlsCa }) })
    : new http.Agent(pool)
  const connectedSockets = trackConnectedSockets(agent, secure ? 'secureConnect' : 'connect')
  const target = {
    agent,
    host: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port || (secure ? 443 : 80),
  }

  function start({ method, path, headers, body }: HttpRequest): http.ClientRequest {
    const lengthBytes = body === undefined ? null : lengthOf(body)
    const length = lengthBytes === null ? {} : { 'Content-Length': lengthBytes }
    const named = { 'User-Agent': 'Posthorn', Accept: '*/*', ...headers, ...length }
    return (secure ? https : http).request({ ...target, method, path, headers: named })
  }

  /** A text says why there is no request: Node refuses invalid paths and headers before it sends anything. */
  function tryToStart(request: HttpRequest): http.ClientRequest | string {
    try {
      return start(request)
    } catch (error) {
      if (isStreamed(request.body)) request.body.bytes.destroy()
      return errorCode(error as Error)
    }
  }

  function exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
    return new Promise(resolve => {
      if (signal.aborted) return resolve({ kind: 'unsent', code: 'ABORTED' })
      const started = tryToStart(request)
      if (typeof started === 'string') return resolve({ kind: 'unsent', code: started })
      const outgoing = started
      let connected = false
      let stopConnecting = (): void => {}

      /** The first result counts; later ones come from cutting the connection. */
      function settle(exchange: Exchange): void {
        stopConnecting()
        signal.removeEventListener('abort', abort)
        // If the answer came before the whole body was sent, the rest is not sent.
        if (exchange.kind !== 'answer' || !outgoing.writableFinished) outgoing.destroy()
        if (isStreamed(request.body)) request.body.bytes.destroy()
        resolve(exchange)
      }
      const fail = (code: string) => settle({ kind: connected ? 'lost' : 'unsent', code })
      const abort = () => fail('ABORTED')

      signal.addEventListener('abort', abort, { once: true })
      outgoing.on('error', error => fail(errorCode(error)))
      outgoing.on('socket', socket => {
        connected = connectedSockets.has(socket)
        if (connected) return
        stopConnecting = clock.after(CONNECT_MS, () => fail('CONNECT_TIMEOUT'))
        socket.once(secure ? 'secureConnect' : 'connect', () => {
          connected = true
          stopConnecting()
        })
      })
      let answered = false
      outgoing.on('response', response => {
        answered = true
        readAnswer(response, mostAnswerBytes, settle, fail)
      })
      // Node closes a request without an 'error' event if the answer is an unexpected 101.
      outgoing.on('close', () => answered || fail('NO_ANSWER'))
      if (isStreamed(request.body)) pipeBody(request.body, outgoing, fail)
      else outgoing.end(request.body)
    })
  }

  return { exchange, close: () => agent.destroy() }
}

function isStreamed(body: HttpRequest['body']): body is StreamedBody {
  return typeof body === 'object'
}

function lengthOf(body: string | StreamedBody): number | null {
  return isStreamed(body) ? body.lengthBytes : Buffer.byteLength(body)
}

/** Writes the body with backpressure; cuts the request if the body has another length than announced. */
function pipeBody(body: StreamedBody, outgoing: http.ClientRequest, fail: (code: string) => void): void {
  const { bytes, lengthBytes } = body
  let poured = 0
  bytes.on('error', () => fail('BODY_FAILED'))
  bytes.on('data', (chunk: Buffer) => {
    poured += chunk.length
    if (lengthBytes !== null && poured > lengthBytes) fail('BODY_TOO_LONG')
  })
  // Registered before the pipe's own listener, which would end the request as if the body were complete.
  bytes.on('end', () => {
    if (lengthBytes !== null && poured < lengthBytes) fail('BODY_TOO_SHORT')
  })
  bytes.pipe(outgoing)
}

/**
 * The sockets that are connected. A request that waited for a free socket does not know whether
 * it is connected yet: `reusedSocket` is set only for sockets that were idle.
 */
function trackConnectedSockets(agent: http.Agent, event: 'connect' | 'secureConnect'): WeakSet<object> {
  const connectedSockets = new WeakSet<object>()
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback)
    socket?.once(event, () => connectedSockets.add(socket))
    return socket
  }
  return connectedSockets
}

function readAnswer(
  response: http.IncomingMessage,
  mostBytes: number,
  settle: (exchange: Exchange) => void,
  fail: (code: string) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > mostBytes) fail(ANSWER_TOO_LARGE)
    else chunks.push(chunk)
  })
  response.on('error', error => fail(errorCode(error)))
  response.on('close', () => {
    if (!response.complete) return fail('ANSWER_CUT')
    const { statusCode: status = 0, headers } = response
    settle({ kind: 'answer', answer: { status, headers, body: Buffer.concat(chunks) } })
  })
}

/** Only the error's code: messages quote addresses and certificates. */
export function errorCode(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? 'FAILED'
}
