import type { Cancel } from '../../lib/clock.ts'
import type { Io, LinkState, LinkTest } from '../provider.ts'
import { type Bind, type BindRole, startBind } from './bind.ts'
import type { SmppSettings } from './config.ts'
import type { SubmitResult } from './in-flight.ts'
import type { Delivery, Session, Submit } from './session.ts'

export type PoolDeps = {
  settings: SmppSettings
  io: Pick<Io, 'clock' | 'random' | 'log' | 'report'>
  onDelivery(delivery: Delivery): Promise<number>
}

/** All binds of one connection; a submit goes to the least busy one. */
export type Pool = {
  /** Waits up to ROOM_WAIT_MS for a bind with room, else answers `unwritten`. Never rejects. */
  submit: Submit
  /** Waits until a bind is up, or all have failed; for the operator's test. */
  probe(signal: AbortSignal): Promise<LinkTest>
  retryNow(): void
  close(): Promise<void>
}

/** How long a submit waits for a bind with room before it goes back to the queue. */
const ROOM_WAIT_MS = 3000
const MAX_WAITING = 10_000
/** How long closing waits for responses to submits that were sent. */
const DRAIN_MS = 1000

type Waiter = { start(session: Session): void; abandon(): void }

export function createPool({ settings, io, onDelivery }: PoolDeps): Pool {
  const waiters = new Set<Waiter>()
  const watchers = new Set<() => void>()
  let closing: Promise<void> | null = null
  let drained: (() => void) | null = null
  let reported = ''
  let lastState: LinkState['state'] = 'connecting'

  const binds = rolesOf(settings).map(role =>
    startBind({ settings, role, io, onDelivery, onWindowSpace: serveWaiters, onChange }),
  )
  const senders = binds.filter(bind => bind.role !== 'receiver')
  report()

  function submit(...given: Parameters<Submit>): Promise<SubmitResult> {
    // First come, first served: a new submit does not overtake waiting ones.
    const session = waiters.size === 0 && !closing ? leastBusy() : null
    return session ? session.submit(...given) : enqueue(given)
  }

  function leastBusy(): Session | null {
    let best: Session | null = null
    let bestInFlight = settings.window
    for (const bind of senders) {
      const session = bind.session()
      if (session && session.inFlight() < bestInFlight) {
        best = session
        bestInFlight = session.inFlight()
      }
    }
    return best
  }

  function enqueue(given: Parameters<Submit>): Promise<SubmitResult> {
    const [, signal] = given
    const hopeless = closing || waiters.size >= MAX_WAITING || senders.every(bind => bind.isRefused())
    if (hopeless || signal.aborted) return Promise.resolve({ kind: 'unwritten', detail: unavailableReason() })
    return new Promise(resolve => {
      const leave = (): void => {
        cancel()
        signal.removeEventListener('abort', abandon)
        waiters.delete(waiter)
      }
      const abandon = (): void => {
        leave()
        resolve({ kind: 'unwritten', detail: unavailableReason() })
      }
      const waiter: Waiter = {
        start(session) {
          leave()
          resolve(session.submit(...given))
        },
        abandon,
      }
      const cancel: Cancel = io.clock.after(ROOM_WAIT_MS, abandon)
      signal.addEventListener('abort', abandon)
      waiters.add(waiter)
    })
  }

  function serveWaiters(): void {
    if (drained && inFlight() === 0) drained()
    for (const waiter of waiters) {
      const session = leastBusy()
      if (!session) return
      waiter.start(session)
    }
  }

  function onChange(): void {
    report()
    serveWaiters()
    for (const watcher of watchers) watcher()
  }

  function report(): void {
    const state = health()
    const text = `${state}: ${summary()}`
    if (text === reported || closing) return
    reported = text
    if (state === 'down' && lastState !== 'down')
      io.log.warn({ detail: summary() }, 'smpp: no bind to the SMSC is up')
    lastState = state
    io.report({ state, detail: summary() })
  }

  function health(): LinkState['state'] {
    if (senders.some(bind => bind.state() === 'bound')) return 'up'
    return binds.some(bind => bind.state() === 'connecting') ? 'connecting' : 'down'
  }

  /** Such as `1 of 2 bound`, and the faults of the others. */
  function summary(): string {
    const bound = binds.filter(bind => bind.state() === 'bound').length
    const faults = new Set(binds.filter(bind => bind.state() === 'down').map(describeFault))
    return [`${bound} of ${binds.length} bound`, ...faults].join('; ')
  }

  function describeFault(bind: Bind): string {
    return `${bind.role}: ${bind.lastError()}`
  }

  function unavailableReason(): string {
    if (closing) return 'the connection is closing'
    return health() === 'up' ? 'the window of every bind is full' : `no bind is up: ${summary()}`
  }

  function probe(signal: AbortSignal): Promise<LinkTest> {
    return new Promise(resolve => {
      const finish = (): void => {
        watchers.delete(check)
        signal.removeEventListener('abort', finish)
        resolve({ ok: binds.every(bind => bind.state() === 'bound'), detail: summary() })
      }
      const check = (): void => {
        if (signal.aborted || binds.every(bind => bind.state() !== 'connecting')) finish()
      }
      watchers.add(check)
      signal.addEventListener('abort', finish)
      check()
    })
  }

  function inFlight(): number {
    return senders.reduce((sum, bind) => sum + (bind.session()?.inFlight() ?? 0), 0)
  }

  function close(): Promise<void> {
    closing ??= shutDown()
    return closing
  }

  async function shutDown(): Promise<void> {
    await Promise.resolve()
    for (const waiter of waiters) waiter.abandon()
    await drain()
    await Promise.all(binds.map(bind => bind.close()))
  }

  function drain(): Promise<void> {
    if (inFlight() === 0) return Promise.resolve()
    return new Promise(resolve => {
      const cancel = io.clock.after(DRAIN_MS, resolve)
      drained = () => {
        cancel()
        resolve()
      }
    })
  }

  function retryNow(): void {
    for (const bind of binds) bind.retryNow()
  }

  return { submit, probe, retryNow, close }
}

function rolesOf(settings: SmppSettings): BindRole[] {
  const roles: BindRole[] = settings.bindMode === 'trx' ? ['transceiver'] : ['transmitter', 'receiver']
  return Array.from({ length: settings.binds }, () => roles).flat()
}
