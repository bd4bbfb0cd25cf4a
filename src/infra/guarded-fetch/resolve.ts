import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a name; rejects where there is none. Stops when `signal` aborts. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

const DNS_TRY_MS = 2_000
const DNS_TRIES = 2

/**
 * Asks the name servers on sockets of our own. `dns.lookup` would block one of libuv's few
 * threads for as long as a stranger's name server likes, and four such names would stop the
 * whole process; nor does a public name have any business in /etc/hosts.
 */
export const resolvePublic: Resolve = async (host, signal) => {
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES })
  const stop = () => resolver.cancel()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    // Of the two refusals, one that may pass by itself says more than "no such record".
    const reasons = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason] : []))
    throw reasons.find(reason => !isNoSuchName(reason)) ?? reasons[0]
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The operator's own hosts: as the machine resolves them, /etc/hosts included. */
export const resolveAsMachine: Resolve = async host => {
  const found = await lookup(host, { all: true })
  return found.map(one => one.address)
}

/** The name servers say that there is no such name, rather than nothing at all. */
export function isNoSuchName(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME'
}
