import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { GuardedFetchError } from './error.ts'
import type { Target } from './target.ts'

export type Exchange = {
  target: Target
  /** Judged already; the connection goes to one of these and asks nobody again. */
  addresses: readonly string[]
  method: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
  connectMs: number
  clock: Clock
  signal: AbortSignal
  /** Remembers that the far side may have seen something. */
  progress: { sent: boolean }
}

/**
 * One request on one fresh connection to an address that is given; resolves with the answer's
 * head. Name, SNI and certificate check stay those of the URL. Rejects with GuardedFetchError.
 */
export function exchangeOnce(exchange: Exchange): Promise<IncomingMessage> {
  const { target, signal, progress } = exchange
  return new Promise((resolve, reject) => {
    const outgoing = start(exchange)
    const cancelTimer = exchange.clock.after(exchange.connectMs, () =>
      outgoing.destroy(
        new GuardedFetchError('timeout', 'The connection was not made in time.', { retryable: true }),
      ),
    )
    const abort = () => outgoing.destroy(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    outgoing.once('close', () => signal.removeEventListener('abort', abort))
    outgoing.once('close', cancelTimer)
    outgoing.once('socket', socket => {
      socket.once(target.url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        cancelTimer()
        progress.sent = true
      })
    })
    outgoing.once('response', resolve)
    // `on`: an error that comes after the answer's head reaches whoever reads the body.
    outgoing.on('error', error => reject(asFetchError(error, progress.sent)))
    outgoing.end(exchange.body ?? undefined)
    if (signal.aborted) abort()
  })
}

function start(exchange: Exchange): ClientRequest {
  const { url, host, port } = exchange.target
  const secure = url.protocol === 'https:'
  return (secure ? requestHttps : requestHttp)({
    hostname: host,
    port,
    method: exchange.method,
    path: `${url.pathname}${url.search}`,
    headers: headersOf(exchange),
    lookup: pinned(exchange.addresses),
    ...(secure && isIP(host) === 0 && { servername: host }),
    // An agent of its own: no connection is shared between users, and no proxy setting applies.
    agent: false,
  })
}

/** Bytes are taken as they are, so none are asked for in a packing that could blow up. */
function headersOf(exchange: Exchange): OutgoingHttpHeaders {
  const given = Object.entries(exchange.headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...Object.fromEntries(given), 'accept-encoding': 'identity', host: exchange.target.url.host }
}

function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_host, options, done) => {
    if (options.all) done(null, all)
    else done(null, all[0]!.address, all[0]!.family)
  }
}

/** Whatever a socket throws, as one of our kinds; the text quotes nothing of it but its code. */
export function asFetchError(error: unknown, sentBytes: boolean): GuardedFetchError {
  if (error instanceof GuardedFetchError) {
    return new GuardedFetchError(error.reason, error.message, { retryable: error.retryable, sentBytes })
  }
  const code = String((error as { code?: unknown } | null)?.code ?? 'no code')
  if (isTlsCode(code)) {
    return new GuardedFetchError('tls', `The TLS connection failed (${code}).`, {
      retryable: false,
      sentBytes,
    })
  }
  return new GuardedFetchError('network', `The connection failed (${code}).`, { retryable: true, sentBytes })
}

/** OpenSSL's certificate verdicts have no common prefix; what they share is in their words. */
function isTlsCode(code: string): boolean {
  return /^(?:ERR_TLS|ERR_SSL|EPROTO)|CERT|_ISSUER|SIGNATURE|_CA$|_CRL|HOSTNAME/.test(code)
}
