import { backoffMs } from '../../lib/backoff.ts'
import type { Cancel } from '../../lib/clock.ts'
import type { Io } from '../provider.ts'
import type { SmppSettings } from './config.ts'
import { connect } from './connect.ts'
import { COMMAND, INTERFACE_VERSION } from './pdu.ts'
import { type Delivery, openSession, type Session } from './session.ts'
import { isCredentialFault, statusCode, statusName } from './status.ts'

export type BindRole = 'transceiver' | 'transmitter' | 'receiver'

export type BindDeps = {
  settings: SmppSettings
  role: BindRole
  io: Pick<Io, 'clock' | 'random' | 'log'>
  onDelivery(delivery: Delivery): Promise<number>
  onWindowSpace(): void
  /** Called when the bind came up or went down. */
  onChange(): void
}

/** One bind that is kept up: connected, bound, and reconnected whenever it goes down. */
export type Bind = {
  role: BindRole
  state(): 'connecting' | 'bound' | 'down'
  /** Why it is down; '' otherwise. */
  lastError(): string
  /** It is down, and a retry within seconds is not expected to help. */
  isRefused(): boolean
  /** Null while it takes no submits. */
  session(): Session | null
  /** Called when the reason of earlier failures may be gone: the present or next pause before a reconnect is skipped. */
  retryNow(): void
  close(): Promise<void>
}

const RECONNECT_BASE_MS = 200
const RECONNECT_CAP_MS = 10_000
/** Pause after the SMSC refused our credentials: retrying at once may get the account locked. */
const REFUSED_PAUSE_MS = 30_000
/** After a bind that lasted this long, the backoff starts again from its shortest pause. */
const STABLE_MS = 10_000

/** Longest reason in characters: a host name with many addresses fails with one error for each. */
const MAX_FAULT_LENGTH = 200

const BIND_COMMAND: Record<BindRole, number> = {
  transceiver: COMMAND.bindTransceiver,
  transmitter: COMMAND.bindTransmitter,
  receiver: COMMAND.bindReceiver,
}

/** Connects at once, and again after every failure, until it is closed. */
export function startBind(deps: BindDeps): Bind {
  const { settings, io } = deps
  let state: 'connecting' | 'bound' | 'down' = 'connecting'
  let lastError = ''
  let refused = false
  let failures = 0
  let session: Session | null = null
  let closing = false
  /** Ends the current wait of the loop at once: for the connection, the session's end or the pause. */
  let interrupt: () => void = () => {}
  let skipPause = false
  let endPause: () => void = () => {}

  const stopped = reconnectLoop()

  async function reconnectLoop(): Promise<void> {
    while (!closing) {
      refused = false
      const reason = await runOnce()
      session = null
      if (closing) return
      failures++
      lastError = reason.slice(0, MAX_FAULT_LENGTH)
      state = 'down'
      deps.onChange()
      await pause(
        refused
          ? backoffMs(REFUSED_PAUSE_MS, 1, io.random, REFUSED_PAUSE_MS)
          : backoffMs(RECONNECT_BASE_MS, failures, io.random, RECONNECT_CAP_MS),
      )
    }
  }

  /** Connects, binds and runs one session; resolves to the reason why it ended. */
  async function runOnce(): Promise<string> {
    const { socket, ready } = connect(settings, io.clock)
    interrupt = () => socket.destroy()
    const connected = await ready
    if (connected !== true) return connected
    if (closing) return 'closed by us'
    let closed: (reason: string) => void
    const ended = new Promise<string>(resolve => {
      closed = resolve
    })
    const opened = openSession(socket, {
      clock: io.clock,
      log: io.log,
      responseTimeoutMs: settings.responseTimeoutMs,
      enquireLinkMs: settings.enquireLinkMs,
      onDelivery: deps.onDelivery,
      onWindowSpace: deps.onWindowSpace,
      onClosing: () => {
        session = null
      },
      onClosed: reason => closed(reason),
    })
    interrupt = () => opened.destroy('closed by us')
    const answer = await opened.bind(BIND_COMMAND[deps.role], bindRequest(settings))
    if (answer.kind === 'refused') {
      refused = isCredentialFault(answer.status)
      return `the bind was refused with ${statusName(answer.status)} (${statusCode(answer.status)})`
    }
    if (answer.kind === 'lost') return answer.detail
    return await runUntilClosed(opened, ended)
  }

  async function runUntilClosed(opened: Session, ended: Promise<string>): Promise<string> {
    const sinceMs = io.clock.monotonic()
    session = opened
    state = 'bound'
    lastError = ''
    skipPause = false
    deps.onChange()
    const reason = await ended
    if (io.clock.monotonic() - sinceMs >= STABLE_MS) failures = 0
    return reason
  }

  async function pause(delayMs: number): Promise<void> {
    if (!skipPause) {
      await new Promise<void>(resolve => {
        const cancel: Cancel = io.clock.after(delayMs, resolve)
        endPause = () => {
          cancel()
          resolve()
        }
        interrupt = endPause
      })
    }
    skipPause = false
    endPause = () => {}
  }

  async function close(): Promise<void> {
    closing = true
    if (session) await session.unbind()
    interrupt()
    await stopped
  }

  return {
    role: deps.role,
    state: () => state,
    lastError: () => lastError,
    isRefused: () => refused,
    session: () => session,
    retryNow() {
      if (state === 'bound') return
      skipPause = true
      endPause()
    },
    close,
  }
}

function bindRequest(settings: SmppSettings) {
  return {
    systemId: settings.systemId,
    password: settings.password,
    systemType: settings.systemType,
    interfaceVersion: INTERFACE_VERSION,
    addressTon: 0,
    addressNpi: 0,
    addressRange: '',
  }
}
