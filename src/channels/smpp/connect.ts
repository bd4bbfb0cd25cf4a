import { connect as connectTcp, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../lib/clock.ts'
import type { SmppSettings } from './config.ts'

/** A connection being made; the caller may destroy `socket` at any time. */
export type Connecting = {
  socket: Socket
  /** True once connected (with TLS: and the certificate verified), else the reason why not. Never rejects. */
  ready: Promise<true | string>
}

/** For TCP and TLS together. Shorter than the wait for a response: a submit that did not connect is safe to retry. */
const CONNECT_TIMEOUT_MS = 5000

/** Over TCP, or TLS by the settings. Never rejects: `ready` resolves with the reason of a failure. */
export function connect(settings: SmppSettings, clock: Clock): Connecting {
  const socket = open(settings)
  if (typeof socket === 'string') return { socket: new Socket(), ready: Promise.resolve(socket) }
  // An 'error' event without a listener would end the process.
  socket.on('error', () => {})
  const ready = new Promise<true | string>(resolve => {
    const finish = (result: true | string): void => {
      cancel()
      socket.off('close', onClose)
      socket.off('error', onError)
      if (result !== true) socket.destroy()
      resolve(result)
    }
    const onClose = (): void => finish('the connection was closed')
    const onError = (error: Error): void => finish(reasonOf(error))
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () =>
      finish(`no connection within ${CONNECT_TIMEOUT_MS} ms`),
    )
    socket.on('close', onClose)
    socket.on('error', onError)
    socket.once(settings.tls ? 'secureConnect' : 'connect', () => finish(true))
  })
  return { socket, ready }
}

/** The socket, or why there is none: a certificate authority that is not PEM makes `connect` throw. */
function open(settings: SmppSettings): Socket | string {
  try {
    return settings.tls ? openTls(settings) : connectTcp({ host: settings.host, port: settings.port })
  } catch (error) {
    return reasonOf(error)
  }
}

/** The certificate is always verified, against the public authorities or the one configured. */
function openTls(settings: SmppSettings): Socket {
  const name = settings.tlsServerName ?? settings.host
  return connectTls({
    host: settings.host,
    port: settings.port,
    rejectUnauthorized: true,
    // SNI does not allow IP addresses; the certificate is then verified against the address itself.
    servername: isIP(name) ? '' : name,
    ...(settings.tlsCa === undefined ? {} : { ca: settings.tlsCa }),
  })
}

/** Node fails a name with several addresses with an AggregateError, one error for each address. */
function reasonOf(error: unknown): string {
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error]
  return causes.map(cause => (cause instanceof Error ? cause.message : String(cause))).join('; ')
}
