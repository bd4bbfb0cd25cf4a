import { createBatcher } from '../../infra/batch.ts'
import {
  type Database,
  DatabaseUnavailable,
  type Db,
  mayHaveBeenDone,
  STATEMENT_TIMEOUT_MS,
} from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { MessageId } from '../../lib/ids.ts'
import { byAccountAndId } from '../../lib/lock-order.ts'
import { type AcceptRow, type AcceptVerdict, acceptSends, type Faulty } from './hot-store.ts'
import { createPatience, type Wait } from './patience.ts'
import { readTransactions, withdrawUnconfirmed } from './withdraw-store.ts'

export type Accept<Row extends AcceptRow = AcceptRow, Verdict = AcceptVerdict> = {
  /** Makes one send durable. Rejects with DatabaseUnavailable when that could not be confirmed in time: then it will not be sent. */
  add(row: Row): Promise<Verdict | Faulty>
  /** Takes back what may have been stored although its sender was told that it was not; before anything due is taken. */
  withdrawUnconfirmed(): Promise<void>
}

/** What a flush stores: sends alone, or sends with what they belong to, in the same transaction. */
export type AcceptStore<Row extends AcceptRow, Verdict> = {
  /** Verdicts in the order of the rows, which are sorted by account and id; `repeated` says that they may be stored. */
  accept(
    db: Db,
    node: number,
    nowMs: number,
    rows: readonly Row[],
    repeated: boolean,
  ): Promise<(Verdict | Faulty)[]>
  /**
   * Takes back sends of which the sender was told that they were not accepted; which of them were stored.
   * Absent where callers try again under the same id until they know: then nothing has to be taken back.
   */
  withdraw?(db: Database, nowMs: number, rows: readonly Row[]): Promise<Set<MessageId>>
}

/** Sends and nothing else. */
export const SENDS: AcceptStore<AcceptRow, AcceptVerdict> = {
  accept: acceptSends,
  withdraw: withdrawUnconfirmed,
}

export type AcceptDeps<Row extends AcceptRow, Verdict> = {
  db: Database
  clock: Clock
  store: AcceptStore<Row, Verdict>
  /** This node's number, which changes when its lease was lost. */
  node(): number
  /** How long a sender waits while the database is away, in ms. */
  patienceMs?: number
  observe?(items: number, durationMs: number): void
  /** Most items of a transaction. */
  maxItems?: number
  /** Senders that hear of it in one turn of the event loop; else all. */
  toldAtOnce?: number
  /** Rows that answer the same never share a transaction. */
  conflict?(row: Row): string | undefined
}

/** A pause between two tries of a flush: long enough for a restart, short enough for a sender. */
const RETRY_EVERY_MS = 100
const MAX_ITEMS = 256
/** Of content in one transaction: a much larger statement times out on a busy machine, for all sends in it. */
const MOST_CHARACTERS = 4_000_000
/** Once the database answers again, an abandoned statement has ended, or is committing, well within this. */
const KEEP_UNCONFIRMED_MS = STATEMENT_TIMEOUT_MS + 5_000

type Waiting<Row> = { row: Row; wait: Wait; mayBeStored: boolean }
type Unconfirmed<Row> = {
  row: Row
  /** From then on no statement of it runs any more, by the monotonic clock; null until the database answers a look. */
  untilMs: number | null
  /**
   * A commit may still take longer, for a standby or a disk: whatever stores it has a transaction id below
   * this one; null before `untilMs`.
   */
  belowXid: number | null
}

/**
 * Accepts sends, many in one transaction. A flush whose outcome is lost with the
 * connection is repeated with the same ids, which is safe: what the first one
 * stored is recognised. A sender whose patience ends is told so at once, however
 * long the flush hangs; what may have been stored for it is taken back.
 */
export function createAccept<Row extends AcceptRow, Verdict>(
  deps: AcceptDeps<Row, Verdict>,
): Accept<Row, Verdict> {
  type Entry = Waiting<Row>
  const { db, clock, store } = deps
  const { conflict } = deps
  const patience = createPatience(clock, deps.patienceMs ?? 3_000)
  /** Perhaps stored, although their senders were told that they were not accepted. */
  let unconfirmed: Unconfirmed<Row>[] = []

  const batcher = createBatcher<Entry, Verdict | Faulty | null>({
    flush,
    maxItems: deps.maxItems ?? MAX_ITEMS,
    weigh: ({ row }) => row.content?.length ?? 0,
    maxWeight: MOST_CHARACTERS,
    ...(deps.toldAtOnce !== undefined && { toldAtOnce: deps.toldAtOnce }),
    ...(conflict && { conflict: (entry: Entry) => conflict(entry.row) }),
  })

  function add(row: Row): Promise<Verdict | Faulty> {
    return new Promise((resolve, reject) => {
      const entry: Entry = { row, mayBeStored: false, wait: patience.enter(() => abandon(entry, reject)) }
      batcher.add(entry).then(
        verdict => {
          patience.leave(entry.wait)
          if (verdict) resolve(verdict)
        },
        error => {
          patience.leave(entry.wait)
          reject(error)
        },
      )
    })
  }

  function abandon(entry: Entry, reject: (error: Error) => void): void {
    if (entry.mayBeStored && store.withdraw) {
      unconfirmed.push({ row: entry.row, untilMs: null, belowXid: null })
    }
    reject(new DatabaseUnavailable(new Error('not confirmed in time')))
  }

  /** Null for entries whose senders have given up meanwhile. */
  async function flush(entries: Entry[]): Promise<(Verdict | Faulty | null)[]> {
    const startedMs = clock.monotonic()
    const sorted = [...entries].sort((a, b) => byAccountAndId(a.row, b.row))
    const verdicts = await acceptPatiently(sorted)
    deps.observe?.(entries.length, clock.monotonic() - startedMs)
    return entries.map(entry => verdicts.get(entry) ?? null)
  }

  async function acceptPatiently(sorted: Entry[]): Promise<Map<Entry, Verdict | Faulty>> {
    for (let repeated = false; ; repeated = true) {
      try {
        return await acceptOrSplit(sorted, repeated)
      } catch (error) {
        if (!isRepeatable(error, repeated)) throw error
        await new Promise<void>(resolve => clock.after(RETRY_EVERY_MS, resolve))
      }
    }
  }

  /** A value that the database refuses fails its own item: the others go on without it. */
  async function acceptOrSplit(all: Entry[], repeated: boolean): Promise<Map<Entry, Verdict | Faulty>> {
    const entries = all.filter(entry => !entry.wait.over)
    if (entries.length === 0) return new Map()
    const before = entries.map(entry => entry.mayBeStored)
    for (const entry of entries) entry.mayBeStored = true
    try {
      const rows = entries.map(entry => entry.row)
      const verdicts = await store.accept(db, deps.node(), clock.now(), rows, repeated)
      return new Map(entries.map((entry, at) => [entry, verdicts[at]!]))
    } catch (error) {
      const untouched = !(error instanceof DatabaseUnavailable) || !mayHaveBeenDone(error)
      if (untouched) {
        entries.forEach((entry, at) => {
          entry.mayBeStored = before[at]!
        })
      }
      if (isRepeatable(error, repeated)) throw error
      if (entries.length === 1) return new Map([[entries[0]!, { kind: 'faulty', cause: error }]])
      const half = entries.length >> 1
      const first = await acceptOrSplit(entries.slice(0, half), repeated)
      // Should the second half have to be repeated, the first is recognised as accepted.
      const second = await acceptOrSplit(entries.slice(half), repeated)
      return new Map([...first, ...second])
    }
  }

  return {
    add,
    async withdrawUnconfirmed() {
      if (!store.withdraw || unconfirmed.length === 0) return
      const tried = unconfirmed
      const askedMs = clock.monotonic()
      const isLate = ({ untilMs, belowXid }: Unconfirmed<Row>) =>
        untilMs !== null && untilMs <= askedMs && belowXid === null
      const late = tried.filter(isLate)
      // Read before the look, which sees what every transaction stored that has ended by then.
      const { oldestXid, ownXid } = await readTransactions(db, late.length > 0)
      const gone = await store.withdraw(
        db,
        clock.now(),
        tried.map(each => each.row),
      )
      for (const each of tried) each.untilMs ??= clock.monotonic() + KEEP_UNCONFIRMED_MS
      for (const each of late) each.belowXid = ownXid
      const isOver = ({ belowXid }: Unconfirmed<Row>) => belowXid !== null && belowXid <= oldestXid
      unconfirmed = unconfirmed.filter(each => !gone.has(each.row.id) && !isOver(each))
    },
  }
}

/** A repeat can meet its own first try still at work: the rows are there a moment later. */
function isRepeatable(error: unknown, repeated: boolean): boolean {
  if (error instanceof DatabaseUnavailable) return true
  return repeated && (error as { code?: unknown }).code === UNIQUE_VIOLATION
}

const UNIQUE_VIOLATION = '23505'
