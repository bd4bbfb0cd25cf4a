import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'

/** Returns the agent that keeps connections for a protocol (`http:` or `https:`). */
export type KeepAliveAgents = (protocol: string) => HttpAgent

/**
 * Shorter than servers usually wait (5 s and more), so that they seldom close a connection that we are about
 * to use.
 */
const IDLE_MS = 4_000
/** After this a connection is closed, even if it is busy, so that the name is resolved again. */
const MAX_AGE_MS = 60_000
/** Most idle connections, per host and in total. */
const MAX_IDLE_PER_HOST = 256
const MAX_IDLE = 512

/**
 * Connections that stay open for the next request to the same scheme, host and port; a new one costs some 100
 * µs here, and a millisecond with TLS. Each one goes to an address that was checked when it was opened, so
 * the next request need not resolve the name. No data of one request is used in the next.
 */
export function createKeepAliveAgents(clock: Clock): KeepAliveAgents {
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_PER_HOST }
  const plain = new HttpAgent(options)
  const secure = new HttpsAgent(options)
  const openedMs = new WeakMap<Duplex, number>()

  function countIdle(): number {
    return [plain, secure]
      .flatMap(agent => Object.values(agent.freeSockets))
      .reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0)
  }

  /** Whether a socket may be kept; called after each request. */
  function canKeep(socket: Duplex): boolean {
    const nowMs = clock.monotonic()
    const sinceMs = openedMs.get(socket) ?? nowMs
    openedMs.set(socket, sinceMs)
    return nowMs - sinceMs < MAX_AGE_MS && countIdle() < MAX_IDLE
  }

  for (const agent of [plain, secure]) {
    const keep = agent.keepSocketAlive
    agent.keepSocketAlive = socket => canKeep(socket) && keep.call(agent, socket)
  }
  return protocol => (protocol === 'https:' ? secure : plain)
}
