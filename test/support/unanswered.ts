import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import pg from 'pg'
import { createSignals, type Signals } from './signals.ts'

/** What this process asks others and has no answer to yet: time stands still for it, so that no stall of the machine makes a time-out. */
type Unanswered = {
  /** Questions to databases, by `host:port/database`. */
  queries: Map<string, number>
  /** When one of them is answered. */
  signals: Signals
  /** Requests over HTTP that nobody has tired of waiting for. */
  requests: Set<ClientRequest>
}

type Ask = (this: pg.Client, ...args: unknown[]) => unknown

const KEY = Symbol.for('posthorn.tests.unanswered')
const asking = pg.Client.prototype as unknown as { query: Ask; [KEY]?: Unanswered }
/** Once for all files of a worker, whichever of them comes first. */
const unanswered = asking[KEY] ?? startWatching()

/**
 * Tells of the questions that a database has not answered. The server itself calls a connection
 * idle until it has read what was sent, which a busy machine delays.
 */
export function watchQueries(connectionString: string): { count(): number; answered(): Promise<void> } {
  const address = addressOf(new pg.Client({ connectionString }))
  const count = (): number => unanswered.queries.get(address) ?? 0
  return { count, answered: () => unanswered.signals.until(() => count() === 0) }
}

export function countRequests(): number {
  return unanswered.requests.size
}

/** Those that are under way are not to be waited for any more: whoever was asked is silent on purpose. */
export function giveUpRequests(): void {
  unanswered.requests.clear()
}

function startWatching(): Unanswered {
  const started: Unanswered = { queries: new Map(), signals: createSignals(), requests: new Set() }
  asking[KEY] = started
  asking.query = countingIn(started, asking.query)
  subscribe('http.client.request.created', message => {
    const { request } = message as { request: ClientRequest }
    started.requests.add(request)
    request.once('close', () => started.requests.delete(request))
  })
  return started
}

function countingIn({ queries, signals }: Unanswered, ask: Ask): Ask {
  return function (...args) {
    const address = addressOf(this)
    const add = (n: number): void => void queries.set(address, (queries.get(address) ?? 0) + n)
    const answered = (): void => {
      add(-1)
      signals.notify()
    }
    const last = args.at(-1)
    add(1)
    if (typeof last === 'function') {
      const tell = (...results: unknown[]): void => {
        answered()
        last(...results)
      }
      return ask.apply(this, [...args.slice(0, -1), tell])
    }
    const result = ask.apply(this, args)
    if (result instanceof Promise) result.then(answered, answered)
    // A copy: the server says while it is at it.
    else answered()
    return result
  }
}

function addressOf({ host, port, database }: pg.Client): string {
  return `${host}:${port}/${database}`
}
