import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import pg from 'pg'
import { createSignals, type Signals } from './signals.ts'

/**
 * Pending requests of this process: the fake clock stands still while there are any, so that a slow machine
 * causes no time-outs.
 */
type Unanswered = {
  /** Database queries and connection attempts, by `host:port/database`. */
  queries: Map<string, number>
  /** Notified when one of them is answered. */
  signals: Signals
  /** HTTP requests that are still waited for. */
  requests: Set<ClientRequest>
}

type Ask = (this: pg.Client, ...args: unknown[]) => unknown
type Callback = (...results: unknown[]) => void

const KEY = Symbol.for('posthorn.tests.unanswered')
const asking = pg.Client.prototype as unknown as { connect: Ask; query: Ask; [KEY]?: Unanswered }
/** Shared by all test files of a worker. */
const unanswered = asking[KEY] ?? startWatching()

/**
 * Counts the unanswered queries to a database. The server's own view is not enough: a connection counts as
 * idle there until the server has read what was sent, which takes long on a busy machine.
 */
export function watchQueries(connectionString: string): { count(): number; answered(): Promise<void> } {
  const address = addressOf(new pg.Client({ connectionString }))
  const count = (): number => unanswered.queries.get(address) ?? 0
  return { count, answered: () => unanswered.signals.until(() => count() === 0) }
}

export function countRequests(): number {
  return unanswered.requests.size
}

/** Stops waiting for the requests that are in flight: their peers are silent on purpose. */
export function giveUpRequests(): void {
  unanswered.requests.clear()
}

function startWatching(): Unanswered {
  const started: Unanswered = { queries: new Map(), signals: createSignals(), requests: new Set() }
  asking[KEY] = started
  asking.connect = countingIn(started, asking.connect)
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
    let owed = true
    const answered = (): void => {
      if (!owed) return
      owed = false
      add(-1)
      signals.notify()
    }
    add(1)
    if (wrapsCallback(args, answered)) return ask.apply(this, args)
    const result = ask.apply(this, args)
    if (!(result instanceof Promise)) throw new Error('nobody hears of the answer to this')
    result.then(answered, answered)
    return result
  }
}

/** Whether the response goes to a callback, the last argument or within the query. Wraps it to call `answered`. */
function wrapsCallback(args: unknown[], answered: () => void): boolean {
  const before = (callback: Callback): Callback =>
    function (this: unknown, ...results) {
      answered()
      callback.apply(this, results)
    }
  const [question, last] = [args[0] as { callback?: Callback }, args.at(-1)]
  if (typeof last === 'function') args[args.length - 1] = before(last as Callback)
  else if (typeof question?.callback === 'function') question.callback = before(question.callback)
  else return false
  return true
}

function addressOf({ host, port, database }: pg.Client): string {
  return `${host}:${port}/${database}`
}
