import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'

/** The agent that keeps connections for a protocol. */
export type KeptConnections = (protocol: string) => HttpAgent

/** Shorter than servers usually wait (5 s and more), so that they seldom close what we are about to use. */
const IDLE_MS = 4_000
/** Then a name is looked up anew, however busy its connection is. */
const OLDEST_MS = 60_000
/** What waits unused, for one place and for all of them. */
const MOST_IDLE_EACH = 256
const MOST_IDLE = 512

/**
 * Connections that stay open for the next request to the same scheme, host and
 * port; a new one costs some 100 µs here, and with TLS a millisecond. Each goes to
 * an address that was judged when it was opened, so its next request needs no look
 * at the name. Nothing of one request is told to the next.
 */
export function createKeptConnections(clock: Clock): KeptConnections {
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MOST_IDLE_EACH }
  const plain = new HttpAgent(options)
  const secure = new HttpsAgent(options)
  const openedMs = new WeakMap<Duplex, number>()

  function idle(): number {
    return [plain, secure]
      .flatMap(agent => Object.values(agent.freeSockets))
      .reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0)
  }

  /** Called each time that a socket has done its work. */
  function mayStay(socket: Duplex): boolean {
    const nowMs = clock.monotonic()
    const sinceMs = openedMs.get(socket) ?? nowMs
    openedMs.set(socket, sinceMs)
    return nowMs - sinceMs < OLDEST_MS && idle() < MOST_IDLE
  }

  for (const agent of [plain, secure]) {
    const keep = agent.keepSocketAlive
    agent.keepSocketAlive = socket => mayStay(socket) && keep.call(agent, socket)
  }
  return protocol => (protocol === 'https:' ? secure : plain)
}
