import { lookup, Resolver } from 'node:dns/promises'

/** Resolves all addresses of a name; rejects if there are none. Stops when `signal` aborts. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

const DNS_TRY_MS = 2_000
const DNS_TRIES = 2

/**
 * Asks the name servers with a resolver of its own. `dns.lookup` would block one of libuv's few threads for
 * as long as a name server takes, and four such names would stop the whole process. Also, /etc/hosts must not
 * apply to public names.
 */
export const resolvePublic: Resolve = async (host, signal) => {
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES })
  const stop = () => resolver.cancel()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    // Of the two errors, a temporary one is more useful than "no such record".
    const reasons = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason] : []))
    throw reasons.find(reason => !isNoSuchName(reason)) ?? reasons[0]
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** For hosts that the operator allows: as the machine resolves them, including /etc/hosts. */
export const resolveAsMachine: Resolve = async host => {
  const found = await lookup(host, { all: true })
  return found.map(one => one.address)
}

/** Whether the name servers answered that there is no such name. */
export function isNoSuchName(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME'
}
