import type { Links, OpenLink } from '../channels/links.ts'
import type { Outcome } from '../channels/provider.ts'
import type { Conclude } from '../core/messages/conclude.ts'
import type { Waiters } from '../core/messages/waiters.ts'
import type { Admission, Dispatch, OutboxItem } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId, ConnectionId, MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createAttemptEnds } from './attempt-ends.ts'
import { createAttemptRecorder } from './attempt-recorder.ts'
import { createBacklog } from './backlog.ts'
import type { CircuitPhase, Circuits } from './circuit.ts'
import { createDueClaimer, type DueClaimerDeps } from './due-claimer.ts'
import { createHeldItems } from './held-items.ts'
import { type AssignTurn, createJobTurns, isJobItem, type JobItem } from './job-turns.ts'
import { createLane, type Lane } from './lane.ts'
import { createOrphanCheck } from './orphaned.ts'
import { createSubmitter, type SubmitterDeps } from './submitter.ts'
import { createUnmadeAttempts } from './unmade-attempts.ts'

export type Dispatcher = Dispatch & {
  /** Takes a message that this node holds, not begun, and that is sent again: one of a bulk job waits for its turn first. */
  requeue(item: OutboxItem): void
  /** Claims due messages once; returns how many this node claimed. */
  poll(): Promise<number>
  /** Releases messages that this node holds only according to the database; returns how many. */
  releaseOrphaned(): Promise<number>
  /** Calls `wake` with the time at which a deferred message is due again; for the loop. */
  onDue(wake: (dueAtMs: number) => void): void
  /** Until when a connection rests for an account, by the wall clock in ms; 0 when it does not. */
  pausedUntil(connectionId: ConnectionId, accountId: AccountId): number
  /** How many messages of a connection may begin at once (Lane.places). */
  freeSlotsAt(connectionId: ConnectionId): number
  /** Calls `wake` when a connection may have a free slot again. */
  onSlotFree(wake: (connectionId: ConnectionId) => void): void
  /** Sets the function that decides when a message of a bulk job may be sent that comes from the outbox, or is sent again. */
  onReturn(turnOf: AssignTurn): void
  /** A bulk job does not send any more: its messages that are held here go back to the outbox, and wait there. */
  returnHeld(jobId: JobItem['bulkJobId']): void
  /** The response to an accept of the message was lost: it may be stored, with its first attempt if `begun`, which is not made. */
  noteLostAccept(id: MessageId, begun: boolean): void
  /** Such a message is stored. If its attempt was certainly recorded with it, that is reverted: the message is due again. */
  undoAttempt(message: Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'>): Promise<void>
  /** Synchronises the lanes with the open links. */
  syncLanes(): void
  stats(): LaneStats[]
  /** Accepts no further messages, releases those that are held, and resolves when none is in flight. */
  stop(): Promise<void>
  /**
   * Stops waiting for providers that do not respond: the outcome of submits in progress is unknown. No further one is made, also
   * if `stop` is still to be called.
   */
  abandonSubmits(): void
}

type LaneStats = {
  connectionId: ConnectionId
  provider: string
  busy: number
  held: number
  resting: boolean
  circuit: CircuitPhase
}

export type DispatchDeps = DueClaimerDeps &
  SubmitterDeps & {
    clock: Clock
    log: Log
    links: Links
    /** Whether messages of live keys may be sent over it. */
    acceptsLive(open: OpenLink): boolean
    waiters: Waiters
    circuits: Circuits
    /** True once a stop does not wait any more for a database that is unavailable. */
    stopping(): boolean
    /** Applies an attempt's outcome to its message. */
    conclude: Conclude
    observe?(outcome: Outcome['kind'], item: OutboxItem, provider: string): void
  }

/** Messages of one connection that one poll claims at most: keeps each poll short. */
const MAX_CLAIMED = 500
/**
 * Messages that are held while their connection rests for so long are told of it, as the one that was throttled is. For a
 * shorter rest they keep their places: a gateway may ask many times for a second or two.
 */
const LONG_REST_MS = 5_000

/**
 * Submits accepted messages to their providers: through a lane per connection, and
 * never before the attempt is recorded. No transaction is open meanwhile.
 */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { circuits, clock, links, waiters } = deps
  const lanes = new Map<ConnectionId, Lane>()
  const submitToProvider = createSubmitter(deps)
  const claim = createDueClaimer(deps)
  const recordAttempt = createAttemptRecorder(deps)
  const backlog = createBacklog()
  const turns = createJobTurns(deps)
  const unmadeAttempts = createUnmadeAttempts()
  const held = createHeldItems({ ...deps, unmadeAttempts })
  const ends = createAttemptEnds({ ...deps, unmadeAttempts, onDue: dueAtMs => wakeAt(dueAtMs) })
  const { concludeLost, concludeUnmade } = ends
  const orphanCheck = createOrphanCheck({ ...deps, held, unmadeAttempts, concludeLost, concludeUnmade })
  let wakeAt: (dueAtMs: number) => void = () => {}
  let notifySlotFree: (connectionId: ConnectionId) => void = () => {}
  let stopping = false
  /** No further submit is made. */
  let isOver = false
  let inFlight = 0
  let onDrained: (() => void) | null = null

  // --- accepting hands over -------------------------------------------------

  function admit(connectionId: ConnectionId, accountId: AccountId): Admission {
    const lane = lanes.get(connectionId)
    if (!lane || stopping) return { kind: 'wait', dueAt: clock.now() }
    const pausedUntil = lane.pausedUntil(accountId)
    if (pausedUntil > 0) return { kind: 'wait', dueAt: pausedUntil }
    if (lane.tryEnter(accountId)) {
      circuits.started(connectionId)
      return { kind: 'begin' }
    }
    return lane.room() > 0 ? { kind: 'hold' } : { kind: 'wait', dueAt: clock.now() }
  }

  function push(item: OutboxItem, begun: boolean): void {
    const lane = lanes.get(item.connectionId)
    // Of a begun one, too, which may fail over after a slow attempt.
    item.heldAtMs ??= clock.monotonic()
    held.hold(item)
    if (begun) arrive(lane, item)
    else if (lane && !stopping) {
      lane.hold(item)
      tellOfRest(lane, [item])
      pump(lane)
    } else void held.release([item])
  }

  function tellOfRest(lane: Lane, items: readonly OutboxItem[]): void {
    const restMs = lane.allPausedUntil() - clock.now()
    if (restMs < LONG_REST_MS) return
    for (const item of items) item.submitCallbacks?.throttled?.(restMs)
  }

  /** Its attempt is recorded: it is submitted as soon as there is a free slot. */
  function arrive(lane: Lane | undefined, item: OutboxItem): void {
    if (!lane || lane.arrive(item)) void submit(lane, item, 1)
    else inFlight++
  }

  /** Submits those that wait for a slot without one: the link decides whether it takes them. */
  function submitArrived(lane: Lane): void {
    for (const item of lane.drainArrived()) {
      inFlight--
      void submit(undefined, item, 1)
    }
  }

  // --- the outbox hands over ------------------------------------------------

  async function poll(): Promise<number> {
    const polled = [...lanes.values()].map(lane => ({
      connectionId: lane.open.id,
      limit: Math.min(MAX_CLAIMED, lane.claimLimit()),
      testsOnly: !deps.acceptsLive(lane.open),
    }))
    const room = polled.filter(each => each.limit > 0)
    const { rows, items, endOthers } = await claim(stopping ? [] : room)
    backlog.update(polled, rows)
    for (const item of items) requeue(item)
    await endOthers()
    return rows.length
  }

  /** For messages from the outbox, or that are sent again: a message of a bulk job waits for its turn first. */
  function requeue(item: OutboxItem): void {
    if (stopping || !isJobItem(item)) {
      push(item, false)
      return
    }
    held.hold(item)
    turns.requestTurn(item, {
      go: () => push(item, false),
      deferred(dueAtMs) {
        held.drop(item)
        wakeAt(dueAtMs)
      },
    })
  }

  /** Polls at once when a lane with a backlog has room, instead of at the next regular poll. */
  function pollIfBacklogged(lane: Lane): void {
    if (!backlog.has(lane.open.id) || lane.claimLimit() === 0) return
    backlog.delete(lane.open.id)
    wakeAt(clock.now())
  }

  // --- the lane hands over --------------------------------------------------

  function pump(lane: Lane): void {
    for (let item = lane.nextArrived(); item; item = lane.nextArrived()) {
      inFlight--
      void submit(lane, item, 1)
    }
    if (stopping) return
    for (let item = lane.next(); item; item = lane.next()) void beginAndSubmit(lane, item)
  }

  async function beginAndSubmit(lane: Lane, item: OutboxItem): Promise<void> {
    inFlight++
    const attempt = await recordAttempt(item).catch(error => {
      deps.log.warn(
        { err: error, messageId: item.id },
        'an attempt could not be recorded, so it was not made',
      )
      return null
    })
    if (attempt !== null) {
      inFlight--
      return submit(lane, item, attempt)
    }
    // Cancelled meanwhile, or this node lost its lease and another one has the message.
    held.drop(item)
    waiters.notify(item.id, null)
    freeSlot(lane)
    endFlight()
  }

  // --- the provider ---------------------------------------------------------

  async function submit(lane: Lane | undefined, item: OutboxItem, attempt: number): Promise<void> {
    inFlight++
    const open = isOver ? undefined : (lane?.open ?? links.get(item.connectionId))
    circuits.started(item.connectionId)
    item.submitCallbacks?.submitted(item.connectionId)
    open?.calls.begin()
    const outcome = open ? await submitToProvider(open, item, attempt) : NO_LINK
    open?.calls.end()
    item.submitCallbacks?.answered()
    circuits.ended(item.connectionId, outcome)
    deps.observe?.(outcome.kind, item, open?.provider ?? '')
    if (outcome.kind === 'throttled' && outcome.scope !== 'message') {
      lane?.pause(outcome.afterMs, outcome.scope === 'account' ? item.accountId : null)
      item.submitCallbacks?.throttled?.(outcome.afterMs)
      if (lane) tellOfRest(lane, lane.held())
    }
    if (lane) {
      freeSlot(lane)
      pollIfBacklogged(lane)
    }
    const moved = await ends.conclude(item, attempt, outcome)
    if (moved) requeue(moved)
    else held.drop(item)
    endFlight()
  }

  /** Frees its slot for the next message. */
  function freeSlot(lane: Lane): void {
    lane.leave()
    serveNext(lane)
  }

  function serveNext(lane: Lane): void {
    pump(lane)
    notifySlotFree(lane.open.id)
  }

  function endFlight(): void {
    inFlight--
    if (inFlight === 0) onDrained?.()
  }

  function syncLanes(): void {
    for (const [id, lane] of lanes) {
      const open = links.get(id)
      if (open) lane.relink(open)
      else {
        lanes.delete(id)
        circuits.forget(id)
        submitArrived(lane)
        void held.release(lane.drain())
        notifySlotFree(id)
      }
    }
    for (const open of links.all()) {
      if (lanes.has(open.id)) continue
      const lane: Lane = createLane(open, clock, () => pump(lane))
      lanes.set(open.id, lane)
    }
  }

  return {
    admit,
    release(connectionId) {
      const lane = lanes.get(connectionId)
      if (!lane) return
      circuits.withdrawn(connectionId)
      lane.cancelEntry()
      serveNext(lane)
    },
    push,
    requeue,
    poll,
    releaseOrphaned: orphanCheck.release,
    onDue(wake) {
      wakeAt = wake
    },
    pausedUntil(connectionId, accountId) {
      const lane = lanes.get(connectionId)
      return lane ? Math.max(lane.pausedUntil(accountId), lane.allPausedUntil()) : 0
    },
    freeSlotsAt: connectionId => lanes.get(connectionId)?.freeSlots() ?? Number.POSITIVE_INFINITY,
    onSlotFree(wake) {
      notifySlotFree = wake
    },
    onReturn: turns.onReturn,
    returnHeld(jobId) {
      for (const [id, lane] of lanes) {
        const waiting = lane.drain(item => item.bulkJobId === jobId)
        if (waiting.length === 0) continue
        void held.release(waiting)
        notifySlotFree(id)
      }
    },
    noteLostAccept: unmadeAttempts.noteLostAccept,
    undoAttempt: ends.undo,
    syncLanes,
    stats: () =>
      [...lanes.values()].map(lane => ({
        connectionId: lane.open.id,
        provider: lane.open.provider,
        circuit: circuits.phase(lane.open.id),
        ...lane.stats(),
      })),
    async stop() {
      stopping = true
      for (const lane of lanes.values()) submitArrived(lane)
      await held.release([...lanes.values()].flatMap(lane => lane.drain()))
      if (inFlight > 0) await new Promise<void>(resolve => (onDrained = resolve))
      // Nobody would wait for a submit of a message that was admitted, and whose accept outlasts its request.
      isOver = true
    },
    abandonSubmits() {
      stopping = true
      isOver = true
      submitToProvider.abandonAll()
    },
  }
}

/**
 * The link closed between accept and submit, or the node has no time left for it: nothing was sent, and it does not count as an
 * attempt. The message waits in the outbox.
 */
const NO_LINK: Outcome = {
  kind: 'throttled',
  afterMs: 100,
  scope: 'message',
  detail: 'the connection is not open',
}
