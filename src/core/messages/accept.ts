import { createBatcher } from '../../infra/batch.ts'
import {
  type Database,
  DatabaseUnavailable,
  type Db,
  mayHaveBeenExecuted,
  STATEMENT_TIMEOUT_MS,
  UNIQUE_VIOLATION,
} from '../../infra/db.ts'
import { type Clock, pause } from '../../lib/clock.ts'
import type { MessageId } from '../../lib/ids.ts'
import { byAccountAndId } from '../../lib/lock-order.ts'
import { type AcceptRow, type AcceptVerdict, acceptSends, type Faulty } from './hot-store.ts'
import { createPatience, type Wait } from './patience.ts'
import { readTransactionIds, withdrawUnconfirmed } from './withdraw-store.ts'

export type Accept<Row extends AcceptRow = AcceptRow, Verdict = AcceptVerdict> = {
  /** Stores one send. Rejects with DatabaseUnavailable if the commit was not confirmed in time: then it will not be sent. */
  add(row: Row): Promise<Verdict | Faulty>
  /** Withdraws sends that may be stored although their senders got an error. Called before due messages are claimed. */
  withdrawUnconfirmed(): Promise<void>
}

/** Stores the sends of a flush; others than `SENDS` store more in the same transaction, such as verifications. */
export type AcceptStore<Row extends AcceptRow, Verdict> = {
  /** Verdicts in the order of the rows, which are sorted by account and id; `repeated`: an earlier call may have stored some. */
  accept(
    db: Db,
    node: number,
    nowMs: number,
    rows: readonly Row[],
    repeated: boolean,
  ): Promise<(Verdict | Faulty)[]>
  /**
   * Withdraws sends whose senders got an error; returns those that were stored.
   * Absent if callers retry under the same id until they have a verdict: then nothing has to be withdrawn.
   */
  withdraw?(db: Database, nowMs: number, rows: readonly Row[]): Promise<Set<MessageId>>
}

/** The store for plain sends. */
export const SENDS: AcceptStore<AcceptRow, AcceptVerdict> = {
  accept: acceptSends,
  withdraw: withdrawUnconfirmed,
}

export type AcceptDeps<Row extends AcceptRow, Verdict> = {
  db: Database
  clock: Clock
  store: AcceptStore<Row, Verdict>
  /** This node's number, which changes when its lease has expired. */
  node(): number
  /** How long a sender waits while the database is unavailable, in ms. */
  patienceMs?: number
  observe?(items: number, durationMs: number): void
  /** The most items of a transaction. */
  maxItems?: number
  /** How many senders get their verdict in one turn of the event loop; all if absent. */
  resolvedPerTurn?: number
  /** Rows with the same return value never share a transaction. */
  conflict?(row: Row): string | undefined
}

/** The pause between two tries of a flush, in ms. */
const RETRY_EVERY_MS = 100
const MAX_ITEMS = 256
/** Characters of content in one transaction: a much larger statement times out on a busy machine, for all its sends. */
const MAX_CHARACTERS = 4_000_000
/** Once the database responds again, an abandoned statement has ended or is committing within this time, in ms. */
const KEEP_UNCONFIRMED_MS = STATEMENT_TIMEOUT_MS + 5_000

type Waiting<Row> = { row: Row; wait: Wait; mayBeStored: boolean }
type Unconfirmed<Row> = {
  row: Row
  /** When its statements have ended for certain, in ms of the monotonic clock; null until the database responds again. */
  endedAtMs: number | null
  /**
   * A commit may take longer, because of a standby or a disk: the transaction that stores the send has an id below
   * this one. Null before `endedAtMs`.
   */
  belowXid: number | null
}

/**
 * Accepts sends, many in one transaction. A flush whose outcome is unknown because its
 * connection broke is repeated with the same ids. This is safe: the database recognises
 * what the first try stored. A sender whose patience ends gets an error at once, even if
 * the flush still hangs; what may have been stored for it is withdrawn later.
 */
export function createAccept<Row extends AcceptRow, Verdict>(
  deps: AcceptDeps<Row, Verdict>,
): Accept<Row, Verdict> {
  type Entry = Waiting<Row>
  const { db, clock, store } = deps
  const { conflict } = deps
  const patience = createPatience(clock, deps.patienceMs ?? 3_000)
  /** Sends that may be stored although their senders got an error. */
  let unconfirmed: Unconfirmed<Row>[] = []

  const batcher = createBatcher<Entry, Verdict | Faulty | null>({
    flush,
    maxItems: deps.maxItems ?? MAX_ITEMS,
    weightOf: ({ row }) => row.content?.length ?? 0,
    maxWeight: MAX_CHARACTERS,
    ...(deps.resolvedPerTurn !== undefined && { maxResolvedAtOnce: deps.resolvedPerTurn }),
    ...(conflict && { conflictKey: (entry: Entry) => conflict(entry.row) }),
  })

  function add(row: Row): Promise<Verdict | Faulty> {
    return new Promise((resolve, reject) => {
      const entry: Entry = { row, mayBeStored: false, wait: patience.enter(() => timeOut(entry, reject)) }
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

  function timeOut(entry: Entry, reject: (error: Error) => void): void {
    if (entry.mayBeStored && store.withdraw) {
      unconfirmed.push({ row: entry.row, endedAtMs: null, belowXid: null })
    }
    reject(new DatabaseUnavailable(new Error('not confirmed in time'), { wasSent: entry.mayBeStored }))
  }

  /** Null for entries whose senders no longer wait. */
  async function flush(entries: Entry[]): Promise<(Verdict | Faulty | null)[]> {
    const startedMs = clock.monotonic()
    const sorted = [...entries].sort((a, b) => byAccountAndId(a.row, b.row))
    const verdicts = await acceptWithRetry(sorted)
    deps.observe?.(entries.length, clock.monotonic() - startedMs)
    return entries.map(entry => verdicts.get(entry) ?? null)
  }

  /**
   * A unique violation in a repeat means that an earlier try was committing: the next repeat sees its rows. If that one is
   * refused as well, an item has the id of a message that another request has stored.
   */
  async function acceptWithRetry(sorted: Entry[]): Promise<Map<Entry, Verdict | Faulty>> {
    let mayBeCommitting = true
    for (;;) {
      try {
        return await acceptOrSplit(sorted, mayBeCommitting)
      } catch (error) {
        if (isUniqueViolation(error)) mayBeCommitting = false
        await pause(clock, RETRY_EVERY_MS)
      }
    }
  }

  /**
   * If the database refuses a value, only the item with that value fails: the batch is split until it is alone. Throws
   * if the call is to be repeated, after a unique violation only with `mayBeCommitting`.
   */
  async function acceptOrSplit(
    all: Entry[],
    mayBeCommitting: boolean,
  ): Promise<Map<Entry, Verdict | Faulty>> {
    const entries = all.filter(entry => !entry.wait.hasTimedOut)
    if (entries.length === 0) return new Map()
    const before = entries.map(entry => entry.mayBeStored)
    const repeated = before.includes(true)
    for (const entry of entries) entry.mayBeStored = true
    try {
      const rows = entries.map(entry => entry.row)
      const verdicts = await store.accept(db, deps.node(), clock.now(), rows, repeated)
      return new Map(entries.map((entry, at) => [entry, verdicts[at]!]))
    } catch (error) {
      const untouched = !(error instanceof DatabaseUnavailable) || !mayHaveBeenExecuted(error)
      if (untouched) {
        entries.forEach((entry, at) => {
          entry.mayBeStored = before[at]!
        })
      }
      const wasCommitting = repeated && mayBeCommitting && isUniqueViolation(error)
      if (wasCommitting || error instanceof DatabaseUnavailable) throw error
      if (entries.length === 1) return new Map([[entries[0]!, { kind: 'faulty', cause: error }]])
      const half = entries.length >> 1
      const first = await acceptOrSplit(entries.slice(0, half), mayBeCommitting)
      // If the second half has to be repeated, the first is recognised as accepted.
      const second = await acceptOrSplit(entries.slice(half), mayBeCommitting)
      return new Map([...first, ...second])
    }
  }

  return {
    add,
    async withdrawUnconfirmed() {
      if (!store.withdraw || unconfirmed.length === 0) return
      const tried = unconfirmed
      const askedMs = clock.monotonic()
      const isLate = ({ endedAtMs, belowXid }: Unconfirmed<Row>) =>
        endedAtMs !== null && endedAtMs <= askedMs && belowXid === null
      const late = tried.filter(isLate)
      // Read before the withdrawal, which sees what all transactions stored that had ended by then.
      const { oldestXid, ownXid } = await readTransactionIds(db, late.length > 0)
      const gone = await store.withdraw(
        db,
        clock.now(),
        tried.map(each => each.row),
      )
      for (const each of tried) each.endedAtMs ??= clock.monotonic() + KEEP_UNCONFIRMED_MS
      for (const each of late) each.belowXid = ownXid
      const isOver = ({ belowXid }: Unconfirmed<Row>) => belowXid !== null && belowXid <= oldestXid
      unconfirmed = unconfirmed.filter(each => !gone.has(each.row.id) && !isOver(each))
    },
  }
}

function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown }).code === UNIQUE_VIOLATION
}
