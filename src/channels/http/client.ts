import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'

export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With the query, from the root. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string | StreamedBody
}

/**
 * A body that is never whole in memory. The request is cut where the stream fails, or ends early;
 * without a length it goes in chunks, and whoever makes it aborts where it is not to be whole.
 */
export type StreamedBody = { bytes: Readable; lengthBytes: number | null }

export type Answer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer }

/** What became of a request; `code` is a word such as ECONNREFUSED, never an address. */
export type Exchange =
  | { kind: 'answer'; answer: Answer }
  /** No connection stood: not a byte of the request left. */
  | { kind: 'unsent'; code: string }
  /** The request may have arrived; no whole answer came back. */
  | { kind: 'lost'; code: string }

export type HttpClient = {
  /** One request, settled soon after `signal` aborts. Redirects are answers like any other. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>
  /** Cuts every connection. */
  close(): void
}

/** A host that swallows packets, or a TLS that never gets done, must not hold a message for long. */
export const CONNECT_MS = 5_000
/** Shorter than servers keep a connection, so that a request seldom meets one that is just being closed. */
const IDLE_MS = 4_000
/** Answers of such interfaces are some hundred bytes. */
const MOST_ANSWER_BYTES = 262_144
/** The code of an answer that was longer: the far side has answered, and may be asked for less. */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE'

/** Requests to one origin over connections that are kept; at most `connections` of them. */
export function createHttpClient(options: {
  origin: URL
  connections: number
  clock: Clock
  /** PEM of the authority to trust instead of the public ones. */
  tlsCa?: string | undefined
  /** The longest answer that is read, in bytes. */
  mostAnswerBytes?: number
}): HttpClient {
  const { origin, clock, mostAnswerBytes = MOST_ANSWER_BYTES } = options
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
  const standing = watchConnections(agent, secure ? 'secureConnect' : 'connect')
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

  /** Why there is no request: a path or a header that HTTP cannot carry is refused before anything leaves. */
  function tryToStart(request: HttpRequest): http.ClientRequest | string {
    try {
      return start(request)
    } catch (error) {
      if (isStreamed(request.body)) request.body.bytes.destroy()
      return codeOf(error as Error)
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

      /** The first word counts; everything behind it is the cutting's own noise. */
      function settle(exchange: Exchange): void {
        stopConnecting()
        signal.removeEventListener('abort', abort)
        // An answer may come before the body has left whole: what is left of it is nobody's.
        if (exchange.kind !== 'answer' || !outgoing.writableFinished) outgoing.destroy()
        if (isStreamed(request.body)) request.body.bytes.destroy()
        resolve(exchange)
      }
      const fail = (code: string) => settle({ kind: connected ? 'lost' : 'unsent', code })
      const abort = () => fail('ABORTED')

      signal.addEventListener('abort', abort, { once: true })
      outgoing.on('error', error => fail(codeOf(error)))
      outgoing.on('socket', socket => {
        connected = standing.has(socket)
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
      // Node ends a request without a word where the answer is a 101 that nobody asked for.
      outgoing.on('close', () => answered || fail('NO_ANSWER'))
      if (isStreamed(request.body)) pour(request.body, outgoing, fail)
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

/** As fast as the far side takes it; a body of another length than it was said to have is cut. */
function pour(body: StreamedBody, outgoing: http.ClientRequest, fail: (code: string) => void): void {
  const { bytes, lengthBytes } = body
  let poured = 0
  bytes.on('error', () => fail('BODY_FAILED'))
  bytes.on('data', (chunk: Buffer) => {
    poured += chunk.length
    if (lengthBytes !== null && poured > lengthBytes) fail('BODY_TOO_LONG')
  })
  // Before the pipe hears of the end: it would end the request as if it were whole.
  bytes.on('end', () => {
    if (lengthBytes !== null && poured < lengthBytes) fail('BODY_TOO_SHORT')
  })
  bytes.pipe(outgoing)
}

/**
 * The connections that stand, filled as they come to. A request that waited for one is told
 * nothing of its state: `reusedSocket` is set for idle connections alone.
 */
function watchConnections(agent: http.Agent, event: 'connect' | 'secureConnect'): WeakSet<object> {
  const standing = new WeakSet<object>()
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback)
    socket?.once(event, () => standing.add(socket))
    return socket
  }
  return standing
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
  response.on('error', error => fail(codeOf(error)))
  response.on('close', () => {
    if (!response.complete) return fail('ANSWER_CUT')
    const { statusCode: status = 0, headers } = response
    settle({ kind: 'answer', answer: { status, headers, body: Buffer.concat(chunks) } })
  })
}

/** The name alone: messages of errors quote addresses, and of certificates. */
export function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? 'FAILED'
}
