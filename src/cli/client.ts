import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientConfig, readBaseUrl } from '../config.ts'
import { OPERATOR_TOKEN_FILE } from '../infra/secrets.ts'
import { systemClock, within } from '../lib/clock.ts'
import { misuse, Refusal } from '../lib/refusal.ts'

/** An error response of the API. */
export class ApiRefusal extends Error {
  readonly code: string
  readonly details: readonly { path: string; message: string }[]
  /** Whether the same request may succeed later, as while the server starts, stops or lacks its database. */
  readonly isTemporary: boolean

  constructor(status: number, code: string, text: string, details: ApiRefusal['details']) {
    super(text)
    this.name = 'ApiRefusal'
    this.code = code
    this.details = details
    this.isTemporary = status >= 500 || status === 429
  }
}

/** Whether the same request may succeed later, after an error of a client: a command that follows something goes on then. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ApiRefusal) return error.isTemporary
  // A stream that breaks off ends in a TypeError.
  return error instanceof Refusal || error instanceof TypeError
}

export type Body = Record<string, unknown>

/**
 * A client of the server's HTTP APIs. Throws ApiRefusal for an error response, and Refusal if there is no
 * response.
 */
export type Client = {
  /** Below `/api/admin`, as the operator. */
  admin(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Body>
  /** Below `/api/v2`, with an API key. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Body>
  /** A POST with a JSON body that is generated while it is sent; without a time limit. */
  upload(path: string, body: AsyncIterable<Uint8Array>, headers: Record<string, string>): Promise<Body>
  /** The events of a stream until it ends; continues after `lastId` if given. */
  events(path: string, lastId: string | null): AsyncGenerator<ServerEvent>
}

/** One event of a stream, with its data as text. */
export type ServerEvent = { id: string | null; event: string; data: string }

/** Options of the command line, which override the environment. */
export type ClientOptions = { url: string | undefined; token: string | undefined; key: string | undefined }

/** Longer than a send waits for its provider. */
const TIMEOUT_MS = 70_000

export function createClient(config: ClientConfig, options: ClientOptions): Client {
  const base = options.url === undefined ? config.url : readBase(options.url)

  return {
    admin(method, path, body, headers) {
      const token = options.token ?? config.operatorToken ?? readTokenFile(config.dataDir)
      return requestJson(`${base}/api/admin${path}`, method, body, {
        authorization: `Bearer ${token}`,
        ...headers,
      })
    },
    api(method, path, body, headers) {
      return requestJson(`${base}/api/v2${path}`, method, body, { 'x-api-key': apiKey(), ...headers })
    },
    async upload(path, body, headers) {
      const url = `${base}/api/v2${path}`
      const request = {
        method: 'POST',
        headers: { 'x-api-key': apiKey(), 'content-type': 'application/json', ...headers },
        body,
        duplex: 'half',
      }
      return requestOnce(url, request as ClientRequest)
    },
    async *events(path, lastId) {
      const url = `${base}/api/v2${path}`
      const headers = { 'x-api-key': apiKey(), ...(lastId !== null && { 'last-event-id': lastId }) }
      const response = await fetchResponse(url, { headers })
      if (!response.ok) throw toApiRefusal(await readAnswer(response, url, { headers }), response.status)
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
      if (!isStream || !response.body) throw notPosthorn(url, response.status)
      yield* readEvents(response.body)
    },
  }

  function apiKey(): string {
    const key = options.key ?? config.apiKey
    if (key === undefined) throw misuse('Give an API key: --key or POSTHORN_API_KEY.')
    return key
  }
}

function readBase(url: string): string {
  try {
    return readBaseUrl(url)
  } catch (error) {
    throw misuse(`--url ${(error as Error).message}.`)
  }
}

/** Parses server-sent events as our server sends them: each ends with a blank line. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body) {
    const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) yield readEvent(block)
  }
}

function readEvent(block: string): ServerEvent {
  const fields = new Map(block.split('\n').map(line => line.split(/: ?(.*)/s, 2) as [string, string]))
  return { id: fields.get('id') ?? null, event: fields.get('event') ?? '', data: fields.get('data') ?? '' }
}

/** The token that a server on this machine generated. */
function readTokenFile(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, OPERATOR_TOKEN_FILE), 'utf8').trim()
  } catch (cause) {
    throw misuse(
      `There is no operator token: give --token, set POSTHORN_OPERATOR_TOKEN, or set POSTHORN_DATA_DIR to the data directory of the server.`,
      cause,
    )
  }
}

async function requestJson(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Body> {
  const request = {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
  return within(systemClock, TIMEOUT_MS, signal => requestOnce(url, { ...request, signal }))
}

async function requestOnce(url: string, request: ClientRequest): Promise<Body> {
  const response = await fetchResponse(url, request)
  const answer = await readAnswer(response, url, request)
  if (!response.ok) throw toApiRefusal(answer, response.status)
  // Of another server's success nothing can be shown, least of all that something was sent.
  if ('success' in answer || 'data' in answer) return answer
  throw notPosthorn(url, response.status)
}

type ClientRequest = RequestInit & { headers: Record<string, string> }

async function fetchResponse(url: string, request: ClientRequest): Promise<Response> {
  checkHeaders(request.headers)
  try {
    // Following a redirect would send the key to an unknown server, and could turn a POST into a GET.
    return await fetch(url, { ...request, redirect: 'manual' })
  } catch (cause) {
    // An error in producing the body is not the server's fault.
    if ((cause as Error).cause instanceof Refusal) throw (cause as Error).cause
    if (cause instanceof Refusal) throw cause
    throw noResponse(url, request, cause)
  }
}

const HEADER_LABELS: Readonly<Record<string, string>> = {
  'x-api-key': 'The API key',
  authorization: 'The operator token',
  'idempotency-key': 'The idempotency key',
}

/**
 * Refuses values that no header can contain, such as the `…` of an example. The value may be a secret, so it
 * is not in the message.
 */
function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers({ [name]: value })
    } catch (cause) {
      const what = HEADER_LABELS[name] ?? name
      throw misuse(`${what} has characters that an HTTP header cannot contain.`, cause)
    }
  }
}

function noResponse(url: string, { method = 'GET', headers }: ClientRequest, cause: unknown): Refusal {
  const { origin } = new URL(url)
  const fault = ((cause as Error).cause ?? cause) as Fault
  if (method === 'GET' || isUnsent(fault)) {
    return new Refusal(`No server answers at ${origin}: ${fault.message}.`, { cause })
  }
  const again =
    'idempotency-key' in headers ? 'Repeat it with the same idempotency key' : 'Look before you repeat it'
  return new Refusal(
    `The answer of ${origin} was lost: ${fault.message}. What you asked for may have been done. ${again}.`,
    { cause },
  )
}

/** An error of the connection, as Node and its `fetch` describe it. */
type Fault = Error & { code?: string; syscall?: string; errors?: readonly Fault[] }

/** Errors of TLS before a request is sent: the certificate is refused, or the server speaks no TLS. Others may come later. */
const BEFORE_TLS = /CERT|LEAF_SIGNATURE|WRONG_VERSION/

/** Whether it proves that no byte of the request was sent. */
function isUnsent({ code = '', syscall = '', errors }: Fault): boolean {
  // Of several addresses, each failed.
  if (errors) return errors.every(isUnsent)
  return (
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    BEFORE_TLS.test(code)
  )
}

async function readAnswer(response: Response, url: string, request: ClientRequest): Promise<Body> {
  if (response.status >= 300 && response.status < 400) throw redirected(response, url)
  // The connection can also break during the response.
  const text = await response.text().catch(cause => {
    throw noResponse(url, request, cause)
  })
  const answer = parseObject(text)
  if (answer === null) throw notPosthorn(url, response.status)
  return answer
}

/** Null for a text that is no JSON object. */
function parseObject(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : null
  } catch {
    return null
  }
}

function notPosthorn(url: string, status: number): Refusal {
  return new Refusal(`${new URL(url).origin} did not answer as Posthorn does (status ${status}).`)
}

function redirected({ headers }: Response, url: string): Refusal {
  const to = headers.get('location') ?? 'somewhere else'
  return new Refusal(`${new URL(url).origin} redirects to ${to}: give the address of Posthorn itself.`)
}

function toApiRefusal(answer: Body, status: number): ApiRefusal {
  const { code = `HTTP_${status}`, error = 'The server refused.', details } = answer
  return new ApiRefusal(status, String(code), String(error), Array.isArray(details) ? details : [])
}
