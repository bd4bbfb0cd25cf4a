import type { Links, OpenLink } from '../channels/links.ts'
import type { Outcome } from '../channels/provider.ts'
import type { Conclude } from '../core/messages/conclude.ts'
import type { Waiters } from '../core/messages/waiters.ts'
import type { Admission, Dispatch, OutboxItem } from '../core/outbox/dispatch-port.ts'
import { type OwnedRow, releaseRows } from '../core/outbox/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId, ConnectionId, MessageId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createPassingMap } from '../lib/short-lived-map.ts'
import { type AskDeps, createAsk } from './ask.ts'
import { createBegin } from './begin.ts'
import type { CircuitPhase, Circuits } from './circuit.ts'
import { createDue, type DueDeps } from './due.ts'
import { createJobTurns, isOfJob, type TurnOf } from './job-turns.ts'
import { createLane, type Lane } from './lane.ts'
import { createMislaid } from './mislaid.ts'

export type Dispatcher = Dispatch & {
  /** Looks for due messages once; how many this node took. */
  poll(): Promise<number>
  /** Lets go of what this node holds by the store alone; how many. */
  findMislaid(): Promise<number>
  /** Calls `wake` when a message that was put off is due again; for the loop. */
  onDue(wake: (dueAtMs: number) => void): void
  /** Until when a connection rests for an account, by the wall clock in ms; 0 when it does not. */
  restsUntil(connectionId: ConnectionId, accountId: AccountId): number
  /** How many messages of a connection may begin at once (Lane.places). */
  placesAt(connectionId: ConnectionId): number
  /** Calls `wake` when there may be a place again. */
  onPlace(wake: (connectionId: ConnectionId) => void): void
  /** Sets who decides when a message of a bulk job may leave that comes from the outbox, or leaves again. */
  onReturn(turnOf: TurnOf): void
  /** The first attempt of a message was recorded with it and is not made by this node: the message is due again. */
  neverMade(message: Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'>): Promise<void>
  /** Brings the lanes in step with the open links. */
  relink(): void
  stats(): LaneStats[]
  /** Takes nothing new, gives back what is held, and resolves when nothing is in flight any more. */
  stop(): Promise<void>
  /** Waits no longer for providers that are silent: what is under way with them is unknown. */
  giveUp(): void
}

type LaneStats = {
  connectionId: ConnectionId
  provider: string
  busy: number
  held: number
  resting: boolean
  circuit: CircuitPhase
}

export type DispatchDeps = DueDeps &
  AskDeps & {
    clock: Clock
    log: Log
    links: Links
    /** Whether what live keys have sent may leave over it. */
    takesLive(open: OpenLink): boolean
    waiters: Waiters
    circuits: Circuits
    /** What an attempt's outcome makes of its message. */
    conclude: Conclude
    observe?(outcome: Outcome['kind'], item: OutboxItem, provider: string): void
  }

/** Of one connection, from one poll: keeps each poll short. */
const MOST_CLAIMED = 500

/**
 * Takes accepted messages to their providers: through a lane per connection, and
 * never before the attempt is recorded. No transaction is open meanwhile.
 */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { circuits, clock, conclude, db, links, waiters } = deps
  const lanes = new Map<ConnectionId, Lane>()
  const ask = createAsk(deps)
  const claim = createDue(deps)
  const begin = createBegin({ ...deps, stopping: () => stopping })
  /** Every message in this node's hands, from its hand-over to its settlement. */
  const inHand = createPassingMap<MessageId, OutboxItem>()
  /** Connections that may have more that is due than they had room for at the last look. */
  const hungry = new Set<ConnectionId>()
  const turns = createJobTurns(deps)
  const mislaid = createMislaid({ db, log: deps.log, node: deps.node, inHand, giveUp })
  let wakeAt: (dueAtMs: number) => void = () => {}
  let placeFreed: (connectionId: ConnectionId) => void = () => {}
  let stopping = false
  let inFlight = 0
  let allLanded: (() => void) | null = null

  // --- accepting hands over -------------------------------------------------

  function admit(connectionId: ConnectionId, accountId: AccountId): Admission {
    const lane = lanes.get(connectionId)
    if (!lane || stopping) return { kind: 'wait', dueAt: clock.now() }
    const restsUntil = lane.restsUntil(accountId)
    if (restsUntil > 0) return { kind: 'wait', dueAt: restsUntil }
    if (lane.tryEnter(accountId)) {
      circuits.started(connectionId)
      return { kind: 'begin' }
    }
    return lane.room() > 0 ? { kind: 'hold' } : { kind: 'wait', dueAt: clock.now() }
  }

  function push(item: OutboxItem, begun: boolean): void {
    const lane = lanes.get(item.connectionId)
    inHand.set(item.id, item)
    if (begun) arrive(lane, item)
    else if (lane && !stopping) {
      item.heldAtMs ??= clock.monotonic()
      lane.hold(item)
      pump(lane)
    } else void returnItems([item])
  }

  /** Its attempt is recorded: it leaves as soon as there is a place. */
  function arrive(lane: Lane | undefined, item: OutboxItem): void {
    if (!lane || lane.arrive(item)) void submit(lane, item, 1)
    else inFlight++
  }

  /** Those that wait for a place leave without one: the link says whether it takes them. */
  function submitArrived(lane: Lane): void {
    for (const item of lane.drainArrived()) {
      inFlight--
      void submit(undefined, item, 1)
    }
  }

  // --- the outbox hands over ------------------------------------------------

  async function poll(): Promise<number> {
    const lookedAt = [...lanes.values()].map(lane => ({
      connectionId: lane.open.id,
      limit: Math.min(MOST_CLAIMED, lane.wanted()),
      testsOnly: !deps.takesLive(lane.open),
    }))
    const room = lookedAt.filter(each => each.limit > 0)
    const { rows, items, endOthers } = await claim(stopping ? [] : room)
    noteHungry(lookedAt, rows)
    for (const item of items) takeAgain(item)
    await endOthers()
    return rows.length
  }

  /** For what comes from the outbox, or leaves again: a message of a bulk job asks for its turn first. */
  function takeAgain(item: OutboxItem): void {
    if (stopping || !isOfJob(item)) {
      push(item, false)
      return
    }
    inHand.set(item.id, item)
    turns.ask(item, {
      go: () => push(item, false),
      putOff(dueAtMs) {
        letGo(item)
        wakeAt(dueAtMs)
      },
    })
  }

  /** A connection that got fewer than its limit has nothing more that is due. */
  function noteHungry(
    lookedAt: readonly { connectionId: ConnectionId; limit: number }[],
    rows: readonly { connectionId: ConnectionId }[],
  ): void {
    const got = new Map<ConnectionId, number>()
    for (const { connectionId } of rows) got.set(connectionId, (got.get(connectionId) ?? 0) + 1)
    for (const { connectionId, limit } of lookedAt) {
      if ((got.get(connectionId) ?? 0) < limit) hungry.delete(connectionId)
      else hungry.add(connectionId)
    }
  }

  /** A lane that had to leave some behind fetches them as soon as it has room, not at the next look. */
  function feed(lane: Lane): void {
    if (!hungry.has(lane.open.id) || lane.wanted() === 0) return
    hungry.delete(lane.open.id)
    wakeAt(clock.now())
  }

  /** It may have left: the attempt is recorded and nobody here makes it. */
  async function giveUp({ attempt, ...row }: OwnedRow): Promise<void> {
    await conclude.orphaned(row, attempt)
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
    const attempt = await begin(item).catch(error => {
      deps.log.warn({ err: error, messageId: item.id }, 'an attempt could not be recorded; it is not made')
      return null
    })
    if (attempt !== null) {
      inFlight--
      return submit(lane, item, attempt)
    }
    // Cancelled meanwhile, or this node lost its lease: somebody else knows.
    letGo(item)
    waiters.notify(item.id, null)
    leave(lane)
    landed()
  }

  // --- the provider ---------------------------------------------------------

  async function submit(lane: Lane | undefined, item: OutboxItem, attempt: number): Promise<void> {
    inFlight++
    const open = lane?.open ?? links.get(item.connectionId)
    circuits.started(item.connectionId)
    item.submitCallbacks?.submitted(item.connectionId)
    open?.calls.begin()
    const outcome = open ? await ask(open, item, attempt) : NO_LINK
    open?.calls.end()
    item.submitCallbacks?.answered()
    circuits.ended(item.connectionId, outcome)
    deps.observe?.(outcome.kind, item, open?.provider ?? '')
    if (outcome.kind === 'throttled' && outcome.scope !== 'message')
      lane?.rest(outcome.afterMs, outcome.scope === 'account' ? item.accountId : null)
    if (lane) {
      leave(lane)
      feed(lane)
    }
    await end(item, attempt, outcome)
    landed()
  }

  /** Its place is the next one's. */
  function leave(lane: Lane): void {
    lane.leave()
    goOn(lane)
  }

  function goOn(lane: Lane): void {
    pump(lane)
    placeFreed(lane.open.id)
  }

  async function end(item: OutboxItem, attempt: number, outcome: Outcome): Promise<void> {
    try {
      const conclusion = await conclude.attempt(item, attempt, outcome)
      if (conclusion.kind === 'moved') {
        takeAgain(conclusion.item)
        return
      }
      if (conclusion.dueAt !== null) wakeAt(conclusion.dueAt)
    } catch (error) {
      deps.log.warn({ err: error, messageId: item.id }, 'an outcome could not be written down; it is unknown')
    }
    letGo(item)
  }

  /** Not where it is in hand again, by a late outcome that made it go on. */
  function letGo(item: OutboxItem): void {
    item.submitCallbacks?.submitted(null)
    if (inHand.get(item.id) === item) inHand.delete(item.id)
  }

  function landed(): void {
    inFlight--
    if (inFlight === 0) allLanded?.()
  }

  async function returnItems(items: OutboxItem[]): Promise<void> {
    for (const item of items) {
      letGo(item)
      waiters.notify(item.id, null)
    }
    await releaseRows(db, deps.node(), items).catch(error => {
      deps.log.warn({ err: error }, 'held messages could not be given back; they are found as mislaid')
    })
  }

  function relink(): void {
    for (const [id, lane] of lanes) {
      const open = links.get(id)
      if (open) lane.relink(open)
      else {
        lanes.delete(id)
        circuits.forget(id)
        submitArrived(lane)
        const held = lane.drain()
        if (held.length > 0) void returnItems(held)
        placeFreed(id)
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
      lane.turnBack()
      goOn(lane)
    },
    push,
    poll,
    findMislaid: mislaid.find,
    onDue(wake) {
      wakeAt = wake
    },
    restsUntil(connectionId, accountId) {
      const lane = lanes.get(connectionId)
      return lane ? Math.max(lane.restsUntil(accountId), lane.restsForAllUntil()) : 0
    },
    placesAt: connectionId => lanes.get(connectionId)?.places() ?? Number.POSITIVE_INFINITY,
    onPlace(wake) {
      placeFreed = wake
    },
    onReturn: turns.onReturn,
    async neverMade(message) {
      try {
        const conclusion = await conclude.notMade(message, 1)
        if (conclusion.kind === 'settled' && conclusion.dueAt !== null) wakeAt(conclusion.dueAt)
      } catch (error) {
        deps.log.warn({ err: error, messageId: message.id }, 'a message will be found as mislaid')
      }
    },
    relink,
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
      const held = [...lanes.values()].flatMap(lane => lane.drain())
      if (held.length > 0) await returnItems(held)
      if (inFlight > 0) await new Promise<void>(resolve => (allLanded = resolve))
    },
    giveUp: ask.giveUp,
  }
}

/** The link closed between accept and submit: nothing was sent, which is no try. The outbox has it until there is one. */
const NO_LINK: Outcome = {
  kind: 'throttled',
  afterMs: 100,
  scope: 'message',
  detail: 'the connection is not open',
}
