import { connect as connectTcp, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../lib/clock.ts'
import type { SmppSettings } from './config.ts'

/** A connection under way; `socket` may be destroyed at any time. */
export type Connecting = {
  socket: Socket
  /** True once it stands (and its certificate was verified), else why it does not. Never rejects. */
  ready: Promise<true | string>
}

/** TCP and TLS together; shorter than an answer's time, since nothing was sent yet. */
const CONNECT_TIMEOUT_MS = 5000

export function connect(settings: SmppSettings, clock: Clock): Connecting {
  const socket = open(settings)
  if (typeof socket === 'string') return { socket: new Socket(), ready: Promise.resolve(socket) }
  // Somebody always listens: an error without a listener would end the process.
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

/** The socket, or why there cannot be one: a certificate authority that is no PEM throws at once. */
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
    // An address cannot be asked for by SNI; its certificate is checked against the address itself.
    servername: isIP(name) ? '' : name,
    ...(settings.tlsCa === undefined ? {} : { ca: settings.tlsCa }),
  })
}

/** A name with several addresses fails with one error for each. */
function reasonOf(error: unknown): string {
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error]
  return causes.map(cause => (cause instanceof Error ? cause.message : String(cause))).join('; ')
}
