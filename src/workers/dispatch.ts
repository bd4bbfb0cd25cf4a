import type { Links, OpenLink } from '../channels/links.ts'
import type { LinkLog, Outcome } from '../channels/provider.ts'
import type { Failover, Onward } from '../core/messages/failover.ts'
import { beginAttempts } from '../core/messages/hot-store.ts'
import type { Settle } from '../core/messages/settle.ts'
import { type Settlement, type SettlePolicy, settleOutcome } from '../core/messages/transitions.ts'
import type { Waiters } from '../core/messages/waiters.ts'
import { failSuppressed, failUnreadable } from '../core/messages/withdraw-store.ts'
import type { Admission, Dispatch, OutboxItem } from '../core/outbox/dispatch-port.ts'
import { type ClaimedRow, claimDue, giveBack, type OwnedRow } from '../core/outbox/store.ts'
import { type SecretContent, secretContext, withSecret } from '../core/outbox/stored-content.ts'
import { createBatcher } from '../infra/batch.ts'
import { type Database, DatabaseUnavailable } from '../infra/db.ts'
import type { Seal } from '../infra/seal.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId, ConnectionId, Ids, MessageId } from '../lib/ids.ts'
import type { Random } from '../lib/random.ts'
import type { CircuitPhase, Circuits } from './circuit.ts'
import { createDeadlines } from './deadlines.ts'
import { createLane, type Lane } from './lane.ts'
import { createMislaid } from './mislaid.ts'
import { type FileSources, toOutgoing } from './outgoing.ts'

export type Dispatcher = Dispatch & {
  /** Looks for due messages once; how many this node took. */
  poll(): Promise<number>
  /** Lets go of what this node holds by the store alone; how many. */
  findMislaid(): Promise<number>
  /** Calls `wake` when a message that was put off is due again; for the loop. */
  onDue(wake: (dueAtMs: number) => void): void
  /** Brings the lanes in step with the open links. */
  relink(): void
  stats(): LaneStats[]
  /** Takes nothing new, gives back what is held, and resolves when nothing is in flight any more. */
  stop(): Promise<void>
}

type LaneStats = {
  connectionId: ConnectionId
  provider: string
  busy: number
  held: number
  resting: boolean
  circuit: CircuitPhase
}

export type DispatchDeps = {
  db: Database
  clock: Clock
  ids: Ids
  random: Random
  seal: Seal
  log: LinkLog
  links: Links
  settle: Settle
  waiters: Waiters
  failover: Failover
  circuits: Circuits
  files: FileSources
  /** Which of these must not leave any more: their recipients decided while they waited. */
  unwanted(rows: readonly ClaimedRow[]): Promise<ReadonlySet<ClaimedRow>>
  /** Keeps that a recipient has opted out, by the provider's word. */
  optedOut(item: OutboxItem, providerCode: string | null): Promise<void>
  node(): number
  /** How often a connection's messages are tried, and when an unknown one is closed. */
  policyOf(connectionId: ConnectionId): SettlePolicy
  /** How long one submit may take, in ms. */
  submitTimeoutMs?: number
  observe?(outcome: Outcome['kind'], item: OutboxItem, provider: string): void
}

const SUBMIT_TIMEOUT_MS = 30_000
/** A provider that does not heed its signal within this is given up: nobody knows what it does. */
const SUBMIT_GRACE_MS = 5_000
const BEGIN_RETRY_MS = 200
/** Of one connection, from one poll: keeps each poll short. */
const MOST_CLAIMED = 500

/**
 * Takes accepted messages to their providers: through a lane per connection, and
 * never before the attempt is recorded. No transaction is open meanwhile.
 */
export function createDispatcher(deps: DispatchDeps): Dispatcher {
  const { circuits, clock, db, links, settle, waiters } = deps
  const lanes = new Map<ConnectionId, Lane>()
  const deadlines = createDeadlines(clock, deps.submitTimeoutMs ?? SUBMIT_TIMEOUT_MS, SUBMIT_GRACE_MS)
  const beginner = createBatcher<OutboxItem, number | null>({ flush: begin })
  /** Every message in this node's hands, from its hand-over to its settlement. */
  const inHand = new Set<MessageId>()
  /** Connections that may have more that is due than they had room for at the last look. */
  const hungry = new Set<ConnectionId>()
  const mislaid = createMislaid({ db, log: deps.log, node: deps.node, inHand, giveUp })
  let wakeAt: (dueAtMs: number) => void = () => {}
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
    inHand.add(item.id)
    if (begun) void submit(lane, item, 1)
    else if (lane && !stopping) {
      lane.hold(item)
      pump(lane)
    } else void returnItems([item])
  }

  // --- the outbox hands over ------------------------------------------------

  async function poll(): Promise<number> {
    const lookedAt = [...lanes.values()].map(lane => ({
      connectionId: lane.open.id,
      limit: Math.min(MOST_CLAIMED, lane.wanted()),
    }))
    const room = lookedAt.filter(each => each.limit > 0)
    const rows = room.length === 0 || stopping ? [] : await claimDue(db, deps.node(), clock.now(), room)
    noteHungry(lookedAt, rows)
    const unwanted = await deps.unwanted(rows)
    const unreadable: ClaimedRow[] = []
    for (const row of rows) {
      if (unwanted.has(row)) continue
      const item = toItem(row)
      if (item) push(item, false)
      else unreadable.push(row)
    }
    await failUnreadable(db, clock.now(), unreadable)
    await failSuppressed(db, clock.now(), [...unwanted])
    return rows.length
  }

  /** Whoever got less than it asked for has had all that is due. */
  function noteHungry(
    lookedAt: readonly { connectionId: ConnectionId; limit: number }[],
    rows: readonly ClaimedRow[],
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

  /** The words of an OTP are in the clear from here to the provider, and nowhere else. */
  function toItem(row: ClaimedRow): OutboxItem | null {
    const { secret, ...item } = row
    // The words of an unknown attempt are erased: should it come back as not taken, they cannot be sent again.
    if (!secret) return item.messageType === 'otp' ? null : item
    try {
      const words = JSON.parse(deps.seal.open(secret, secretContext(row.id)).toString()) as SecretContent
      return { ...item, content: withSecret(item.content, words) }
    } catch (error) {
      deps.log.warn({ err: error, messageId: row.id }, 'the sealed words of a message cannot be opened')
      return null
    }
  }

  /** It may have left: the attempt is recorded and nobody here makes it. */
  async function giveUp({ accountId, id, attempt, connectionId }: OwnedRow): Promise<void> {
    const outcome: Outcome = { kind: 'unknown', detail: 'this node lost sight of the attempt' }
    await write({ accountId, id, connectionId }, attempt, outcome)
  }

  // --- the lane hands over --------------------------------------------------

  function pump(lane: Lane): void {
    if (stopping) return
    for (let item = lane.next(); item; item = lane.next()) void beginAndSubmit(lane, item)
  }

  async function beginAndSubmit(lane: Lane, item: OutboxItem): Promise<void> {
    inFlight++
    const attempt = await beginner.add(item).catch(error => {
      deps.log.warn({ err: error, messageId: item.id }, 'an attempt could not be recorded; it is not made')
      return null
    })
    if (attempt !== null) {
      inFlight--
      return submit(lane, item, attempt)
    }
    // Cancelled meanwhile, or this node lost its lease: somebody else knows.
    inHand.delete(item.id)
    waiters.tell(item.id, null)
    lane.leave()
    pump(lane)
    landed()
  }

  async function begin(items: OutboxItem[]): Promise<(number | null)[]> {
    const order = items
      .map((_, at) => at)
      .sort((a, b) => (lockOrder(items[a]!) < lockOrder(items[b]!) ? -1 : 1))
    const sorted = order.map(at => items[at]!)
    const nowMs = clock.now()
    for (let repeated = false; ; repeated = true) {
      try {
        const attempts = await beginAttempts(db, deps.node(), nowMs, sorted, repeated)
        const results: (number | null)[] = new Array(items.length)
        order.forEach((at, position) => {
          results[at] = attempts[position]!
        })
        return results
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || stopping) throw error
        await new Promise<void>(resolve => clock.after(BEGIN_RETRY_MS, resolve))
      }
    }
  }

  // --- the provider ---------------------------------------------------------

  async function submit(lane: Lane | undefined, item: OutboxItem, attempt: number): Promise<void> {
    inFlight++
    const open = lane?.open ?? links.get(item.connectionId)
    circuits.started(item.connectionId)
    const outcome = open ? await ask(open, item, attempt) : NO_LINK
    circuits.ended(item.connectionId, outcome)
    deps.observe?.(outcome.kind, item, open?.provider ?? '')
    if (outcome.kind === 'throttled' && outcome.scope !== 'message')
      lane?.rest(outcome.afterMs, outcome.scope === 'account' ? item.accountId : null)
    if (lane) {
      lane.leave()
      pump(lane)
      feed(lane)
    }
    if (outcome.kind === 'rejected' && outcome.optedOut) await noteOptOut(item, outcome.providerCode ?? null)
    const onward = await goOn(item, attempt, outcome)
    if (onward.kind === 'moved') push(onward.item, false)
    else {
      await write(item, attempt, outcome, onward.tries).catch(error => {
        deps.log.warn(
          { err: error, messageId: item.id },
          'an outcome could not be written down; it is unknown',
        )
      })
      inHand.delete(item.id)
    }
    landed()
  }

  /** Before the sender is told, so that whoever hears of the refusal finds it on the list. */
  async function noteOptOut(item: OutboxItem, providerCode: string | null): Promise<void> {
    await deps.optedOut(item, providerCode).catch(error => {
      deps.log.warn(
        { err: error, messageId: item.id },
        'that a recipient has opted out could not be written down',
      )
    })
  }

  /** What was not taken here may be taken elsewhere: at once, and by this node. */
  function goOn(item: OutboxItem, attempt: number, outcome: Outcome): Onward | Promise<Onward> {
    const stays: Onward = { kind: 'stays', tries: attempt }
    if (outcome.kind !== 'rejected' && outcome.kind !== 'retry') return stays
    return deps.failover.after(item, attempt, outcome).catch(error => {
      deps.log.warn({ err: error, messageId: item.id }, 'no other connection could be found')
      return stays
    })
  }

  function landed(): void {
    inFlight--
    if (inFlight === 0) allLanded?.()
  }

  /** One submit, which always comes to an outcome: what nobody can tell is unknown. */
  function ask(open: OpenLink, item: OutboxItem, attempt: number): Promise<Outcome> {
    return new Promise(resolve => {
      const deadline = deadlines.current()
      const leave = deadline.enter(() =>
        resolve({ kind: 'unknown', detail: 'the provider did not answer in time' }),
      )
      const done = (outcome: Outcome) => {
        leave()
        resolve(outcome)
      }
      // A throw before the promise is as unknown as one after it.
      Promise.resolve()
        .then(() => open.link.send(toOutgoing(item, attempt, deps.files), deadline.signal))
        .then(done, error => {
          deps.log.warn({ err: error, messageId: item.id, provider: open.provider }, 'a provider threw')
          done({ kind: 'unknown', detail: 'the provider failed in an unforeseen way' })
        })
    })
  }

  async function write(
    item: Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'> & { channel?: OutboxItem['channel'] },
    attempt: number,
    outcome: Outcome,
    tries = attempt,
  ): Promise<void> {
    const policy = deps.policyOf(item.connectionId)
    const settlement = settleOutcome(outcome, tries, policy, clock.now(), deps.random)
    const waiting = waiters.claimOf(item.id)
    const told = await settle.attempt({
      accountId: item.accountId,
      id: item.id,
      attempt,
      connectionId: item.connectionId,
      ...settlement,
      forget: settlement.errorCode === 'PROVIDER_UNAVAILABLE' ? waiting : null,
      eventId: deps.ids.next('evt'),
    })
    // Where another word was faster, the store has it.
    const first = settlement.answer !== null && told?.answer === settlement.answer
    if (settlement.answer) waiters.tell(item.id, first ? toWord(item, settlement) : null)
    if (settlement.kind === 'queued') wakeAt(settlement.dueAt!)
  }

  async function returnItems(items: OutboxItem[]): Promise<void> {
    for (const item of items) {
      inHand.delete(item.id)
      waiters.tell(item.id, null)
    }
    await giveBack(db, deps.node(), items).catch(error => {
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
        const held = lane.drain()
        if (held.length > 0) void returnItems(held)
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
      lane.leave()
      pump(lane)
    },
    push,
    poll,
    findMislaid: mislaid.find,
    onDue(wake) {
      wakeAt = wake
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
      const held = [...lanes.values()].flatMap(lane => lane.drain())
      if (held.length > 0) await returnItems(held)
      if (inFlight > 0) await new Promise<void>(resolve => (allLanded = resolve))
    },
  }
}

/** The link closed between accept and submit: nothing was sent. */
const NO_LINK: Outcome = { kind: 'retry', detail: 'the connection is not open' }

/** Null where the store has to say it. */
function toWord(
  { channel, connectionId }: { channel?: OutboxItem['channel']; connectionId: ConnectionId },
  { answer, errorCode, errorDetail }: Settlement,
) {
  return channel ? { answer: answer!, errorCode, errorDetail, channel, connectionId } : null
}

function lockOrder(item: OutboxItem): string {
  return item.accountId + item.id
}
