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
  /** The checked addresses of the name: a new connection goes to one of them, without another look-up. */
  addresses(): Promise<readonly string[]>
  method: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
  /** Time limit from the resolved addresses to the connection. */
  connectMs: number
  /** The agent with the kept connections; null for a new connection of this request's own. */
  keepAlive: Agent | null
  clock: Clock
  signal: AbortSignal
  /** `sent` is set once the server may have received something. */
  progress: { sent: boolean }
}

/**
 * Sends one request on one connection, new or kept; resolves with the response's head. If the server had
 * closed a kept connection, a new one is used. Host name, SNI and certificate check are those of the URL.
 * Rejects with GuardedFetchError.
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
          new GuardedFetchError('timeout', 'The connection was not established in time.', {
            retryable: true,
          }),
        ),
      )
    }
    const outgoing = start(exchange, limitConnect)
    const abort = () => outgoing.destroy(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort)
      cancelTimer()
      // Node closes a request without an error if the response is an unexpected 101.
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
    // `on`, not `once`: an error after the response's head is the reader's of the body.
    outgoing.on('error', error => {
      const stale = outgoing.reusedSocket && !answered && isClosed(error)
      if (stale) resolve(exchangeOnce({ ...exchange, keepAlive: null }))
      else reject(asFetchError(error, progress.sent))
    })
    outgoing.end(exchange.body ?? undefined)
    if (signal.aborted) abort()
  })
}

/** `onResolved` is called when the name is resolved, before a new connection is made. */
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
    // Without kept connections, a fresh agent: no connection is shared, and no proxy setting applies.
    agent: exchange.keepAlive ?? false,
  })
}

/** Bodies are not decompressed, so no encoding is accepted; that also excludes decompression bombs. */
function headersOf(exchange: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const name in exchange.headers) headers[name.toLowerCase()] = exchange.headers[name]
  headers['accept-encoding'] = 'identity'
  headers['host'] = exchange.target.url.host
  return headers
}

/** Node calls this for a new connection to a name, but not for an address. */
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

/** The server had closed the connection before we wrote, or closed it without an answer. */
function isClosed(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return code === 'ECONNRESET' || code === 'EPIPE'
}

/** Converts any error to a GuardedFetchError; of a socket's error the text has only the code. */
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

/** The codes of OpenSSL's certificate errors have no common prefix. */
function isTlsCode(code: string): boolean {
  return /^(?:ERR_TLS|ERR_SSL|EPROTO)|CERT|_ISSUER|SIGNATURE|_CA$|_CRL|HOSTNAME/.test(code)
}
