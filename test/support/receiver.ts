import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'
import { listen } from './loopback.ts'
import { createSignals } from './signals.ts'

/** One request as it came in. */
export type Got = {
  path: string
  headers: IncomingHttpHeaders
  /** The raw text, which the signature covers. */
  text: string
  body: Record<string, unknown>
  /** The status of the response; null if there was none. */
  status: number | null
}

/** A status, a response, or none: `cut` closes the connection, `silence` keeps it open. */
export type Reaction = number | Answer | 'cut' | 'silence'
/** `endless`: the body never ends. */
type Answer = { status: number; headers: Record<string, string>; endless?: true }

export type Receiver = {
  url(path?: string): string
  /** All complete requests, in order. */
  got: Got[]
  /** Sets the response from now on; 200 at first. */
  react(how: Reaction | ((got: Got) => Reaction | Promise<Reaction>)): void
  /** Resolves when this many requests have come in. */
  count(n: number): Promise<void>
  /** The number of connections accepted so far. */
  connections(): number
  /** How many of them are open. */
  open(): Promise<number>
  close(): Promise<void>
}

/** A webhook receiver on the loopback. */
export async function startReceiver(): Promise<Receiver> {
  const got: Got[] = []
  const signals = createSignals()
  let reaction: (got: Got) => Reaction | Promise<Reaction> = () => 200
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const entry: Got = {
      path: request.url!,
      headers: request.headers,
      text,
      body: JSON.parse(text),
      status: null,
    }
    got.push(entry)
    const how = reaction(entry)
    if (how instanceof Promise) void how.then(each => answer(response, each, entry))
    else answer(response, how, entry)
    signals.notify()
  })
  let connections = 0
  server.on('connection', () => connections++)
  const port = await listen(server)

  return {
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    got,
    react(how) {
      reaction = typeof how === 'function' ? how : () => how
    },
    count: n => signals.until(() => got.length >= n),
    connections: () => connections,
    open: () => promisify(server.getConnections.bind(server))(),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function answer(response: ServerResponse, how: Reaction, entry: Got): void {
  if (how === 'silence') return
  if (how === 'cut') return void response.destroy()
  const { status, headers, endless }: Answer = typeof how === 'number' ? { status: how, headers: {} } : how
  entry.status = status
  response.writeHead(status, headers)
  if (endless) response.write('received')
  else response.end('received')
}

/** Verifies a request with the Standard Webhooks library, at a given time; throws its errors. */
export function verify(
  got: Got,
  secret: string,
  nowMs: number,
  format: 'raw' | 'base64' = 'base64',
): unknown {
  const spy = vi.spyOn(Date, 'now').mockReturnValue(nowMs)
  try {
    const webhook = new Webhook(secret, format === 'raw' ? { format } : {})
    return webhook.verify(got.text, got.headers as Record<string, string>)
  } finally {
    spy.mockRestore()
  }
}
