import {
  type Agent,
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
  /** Those of the name, judged: a new connection goes to one of them and asks nobody again. */
  addresses(): Promise<readonly string[]>
  method: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
  /** From the addresses to the connection. */
  connectMs: number
  /** Keeps connections from one request to the next; null for one of this request's own. */
  kept: Agent | null
  clock: Clock
  signal: AbortSignal
  /** Remembers that the far side may have seen something. */
  progress: { sent: boolean }
}

/**
 * One request on one connection, fresh or kept; resolves with the answer's head. A kept one that
 * the far side had closed meanwhile is replaced by a fresh one. Name, SNI and certificate check
 * stay those of the URL. Rejects with GuardedFetchError.
 */
export function exchangeOnce(exchange: Exchange): Promise<IncomingMessage> {
  const { target, signal, progress } = exchange
  return new Promise((resolve, reject) => {
    let cancelTimer = () => {}
    let answered = false
    const limitConnect = () => {
      if (outgoing.destroyed) return
      cancelTimer = exchange.clock.after(exchange.connectMs, () =>
        outgoing.destroy(
          new GuardedFetchError('timeout', 'The connection was not made in time.', { retryable: true }),
        ),
      )
    }
    const outgoing = start(exchange, limitConnect)
    const abort = () => outgoing.destroy(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort)
      cancelTimer()
      // Node ends a request without a word where the answer is a 101 that nobody asked for.
      reject(asFetchError(null, progress.sent))
    })
    const connected = () => {
      cancelTimer()
      progress.sent = true
    }
    outgoing.once('socket', socket => {
      if (outgoing.reusedSocket) return connected()
      if (isIP(target.host) !== 0) limitConnect()
      socket.once(target.url.protocol === 'https:' ? 'secureConnect' : 'connect', connected)
    })
    outgoing.once('response', response => {
      answered = true
      resolve(response)
    })
    // `on`: an error that comes after the answer's head reaches whoever reads the body.
    outgoing.on('error', error => {
      const stale = outgoing.reusedSocket && !answered && isClosed(error)
      if (stale) resolve(exchangeOnce({ ...exchange, kept: null }))
      else reject(asFetchError(error, progress.sent))
    })
    outgoing.end(exchange.body ?? undefined)
    if (signal.aborted) abort()
  })
}

/** `onResolved` is called when a new connection to a name is about to be made. */
function start(exchange: Exchange, onResolved: () => void): ClientRequest {
  const { url, host, port } = exchange.target
  const secure = url.protocol === 'https:'
  return (secure ? requestHttps : requestHttp)({
    hostname: host,
    port,
    method: exchange.method,
    path: `${url.pathname}${url.search}`,
    headers: headersOf(exchange),
    lookup: pinned(exchange.addresses, onResolved),
    ...(secure && isIP(host) === 0 && { servername: host }),
    // Where none are kept, an agent of its own: no connection is shared, and no proxy setting applies.
    agent: exchange.kept ?? false,
  })
}

/** Bytes are taken as they are, so none are asked for in a packing that could blow up. */
function headersOf(exchange: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const name in exchange.headers) headers[name.toLowerCase()] = exchange.headers[name]
  headers['accept-encoding'] = 'identity'
  headers['host'] = exchange.target.url.host
  return headers
}

/** Asked by Node for a new connection to a name; an address needs no asking. */
function pinned(addressesOf: Exchange['addresses'], onResolved: () => void): LookupFunction {
  return (_host, options, done) => {
    addressesOf().then(
      addresses => {
        onResolved()
        const all = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }))
        if (options.all) done(null, all)
        else done(null, all[0]!.address, all[0]!.family)
      },
      error => done(error, []),
    )
  }
}

/** The far side was gone when we wrote, or left without a word. */
function isClosed(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return code === 'ECONNRESET' || code === 'EPIPE'
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
