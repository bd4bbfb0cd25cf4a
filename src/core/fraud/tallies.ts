import type { Clock } from '../../lib/clock.ts'
import { createGenerations } from '../../lib/generations.ts'
import { type AccountId, UUID_BYTES } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { addDelta, ageTally, type Delta, emptyDelta, emptyTally, mergeDelta, type Tally } from './tally.ts'
import {
  countCode,
  decideCode,
  type FreshChange,
  shareCodeEarly,
  type UndecidedCodes,
} from './undecided-codes.ts'

/** One key of an account, and how much its pressures fade per hour; `name` is unique among all accounts. */
export type TallyKey = {
  readonly accountId: AccountId
  readonly key: string
  readonly leak: number
  readonly name: string
  /** Its entry in memory, and the generation (generations.ts) in which it was found: saves looking it up again. */
  entry: TallyEntry | null
  entryGeneration: object | null
}

/** Builds a key; its name is made once, since each send uses a key many times. */
export function tallyKey(accountId: AccountId, key: string, leak: number): TallyKey {
  return { accountId, key, leak, name: nameOf(accountId, key), entry: null, entryGeneration: null }
}

/**
 * The sum of all nodes for a key, as far as known here, and this node's part that the others do not have yet. They do not get
 * the codes that are undecided. While the key is `calm`, they get its changes later. `isRead`: the sum was read from the store;
 * that of a key which is new here may be unknown, since it was evicted or never loaded.
 */
type TallyEntry = UndecidedCodes & {
  tally: Tally
  isRead: boolean
  calm: boolean
  pending: PendingDelta | null
}
/** `sinceMs`, by the monotonic clock, and `entry` say when it is exchanged. */
type PendingDelta = TallyChange & { name: string; sinceMs: number; entry: TallyEntry; taken: boolean }

/** What this node adds to a key. */
export type TallyChange = { accountId: AccountId; key: string; leak: number; delta: Delta }
export type TallyRow = { accountId: AccountId; key: string; tally: Tally }

/** Changes that are stored together; each fold has its own uuid. */
export type Fold = { id: string; changes: readonly TallyChange[] }

/** The store through which the nodes add up their counts. */
export type TallyStore = {
  /** Adds the changes, once even if it is called again with the same fold; returns the sums of these keys. */
  fold(fold: Fold, nowMs: number): Promise<TallyRow[]>
  /**
   * Changes of other nodes to these accounts that were not returned before: since `sinceMs` by the database's
   * clock, or of the last seconds where that is null. Also the time of the latest change by
   * that clock, or `sinceMs` without one. `more`: there was too much for one answer.
   */
  changes(
    accounts: readonly AccountId[],
    sinceMs: number | null,
  ): Promise<{ rows: TallyRow[]; asOfMs: number | null; more: boolean }>
  /** The tallies of an account that were changed last, and whether they include the fold with this id; none by null. */
  load(accountId: AccountId, foldId: string | null): Promise<{ rows: TallyRow[]; hasFold: boolean }>
}

/**
 * The counts in the memory of this node: reads and additions are immediate, and every `fold`
 * exchanges them with the other nodes. A tally that was evicted for want of room
 * is read again by the first fold after it was added to.
 */
export type Tallies = {
  /** Loads the account's tallies; synchronous where they are up to date. */
  ready(accountId: AccountId): void | Promise<void>
  /** The tally, aged to now; callers must not change it. */
  read(key: TallyKey): Readonly<Tally>
  add(key: TallyKey, delta: Partial<Delta>): void
  /** Counts a code that may still be refused (undecided-codes.ts); `decide` follows. */
  addUndecided(key: TallyKey): void
  /** A code of `addUndecided` was sent, or refused. */
  decide(key: TallyKey, isSent: boolean): void
  /** A code is about to be counted as confirmed, maybe before its provider has responded. */
  shareEarly(key: TallyKey): void
  /** How many codes in `fresh` may still be refused, and are not shared. */
  undecided(key: TallyKey): number
  /**
   * Whether the key is so far below its limits that other nodes may learn of its changes CALM_MS later: most keys are, and an
   * exchange for each code would cost more than judging it. By default it is not, nor before its sum was read.
   */
  setCalm(key: TallyKey, calm: boolean): void
  /** Exchanges the changes of all keys that are not calm, and of those that have waited; or of `all`. */
  fold(all?: boolean): Promise<void>
}

/** 200 bytes each. */
const MAX_TALLIES = 200_000
const MAX_ACCOUNTS = 5_000
/** Keys that may wait for a fold: more than a node can add while the database is away for seconds. */
const MAX_PENDING = 100_000
/** With so many, all are exchanged. */
const MAX_HELD_BACK = 25_000
export const CALM_MS = 10_000
const MAX_ROWS = 2_000
/** An account without a request for so long is no longer kept up to date. */
const FOLLOWED_MS = 60_000
/** Tallies that were not brought up to date for so long are read again before they are used. */
const STALE_MS = 5_000
/** A change is visible only once it is committed, later than its timestamp: so look-ups overlap by this. */
const OVERLAP_MS = 5_000

type Exchange = Fold & { byName: ReadonlyMap<string, TallyChange> }
type Followed = { usedAtMs: number; syncedAtMs: number; loading: Promise<void> | null }

export type TalliesDeps = { store: TallyStore; clock: Clock; random: Pick<Random, 'bytes'> }

export function createTallies({ store, clock, random }: TalliesDeps): Tallies {
  const tallies = createGenerations<string, TallyEntry>(MAX_TALLIES)
  const followed = createGenerations<AccountId, Followed>(MAX_ACCOUNTS)
  const active = new Set<AccountId>()
  const pending = new Map<string, PendingDelta>()
  /** A fold that failed. It may have been stored: it is repeated as it was, before any other. */
  let failed: Exchange | null = null
  let receivedMs: number | null = null
  let last: Promise<unknown> = Promise.resolve()

  /** Runs one exchange at a time: a read during a write could bring back older sums. */
  function runInTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  function ready(accountId: AccountId): void | Promise<void> {
    const nowMs = clock.monotonic()
    const account = followed.get(accountId) ?? follow(accountId)
    account.usedAtMs = nowMs
    active.add(accountId)
    if (nowMs - account.syncedAtMs <= STALE_MS) return
    account.loading ??= runInTurn(() => load(accountId, account)).finally(() => {
      account.loading = null
    })
    return account.loading
  }

  function follow(accountId: AccountId): Followed {
    const account = { usedAtMs: 0, syncedAtMs: Number.NEGATIVE_INFINITY, loading: null }
    followed.set(accountId, account)
    return account
  }

  async function load(accountId: AccountId, account: Followed): Promise<void> {
    const startedMs = clock.monotonic()
    const { rows, hasFold } = await store.load(accountId, failed?.id ?? null)
    for (const row of rows) applySum(row, hasFold)
    account.syncedAtMs = startedMs
  }

  /** Takes over the sum of all nodes, and adds this node's counts that are not in it yet. */
  function applySum({ accountId, key, tally }: TallyRow, hasFailed = false): void {
    const name = nameOf(accountId, key)
    for (const mine of [hasFailed ? null : failed?.byName.get(name), pending.get(name)]) {
      if (mine) addDelta(ageTally(tally, clock.now(), mine.leak), mine.delta)
    }
    const known = tallies.get(name)
    if (!known) {
      tallies.set(name, entryOf(tally, true))
      return
    }
    addDelta(tally, { fresh: known.undecided })
    known.tally = tally
    known.isRead = true
  }

  function find(key: TallyKey): TallyEntry {
    const kept = key.entry !== null && key.entryGeneration === tallies.rotate() ? key.entry : lookUp(key)
    ageTally(kept.tally, clock.now(), key.leak)
    return kept
  }

  function lookUp(key: TallyKey): TallyEntry {
    const kept = tallies.get(key.name) ?? entryOf(emptyTally(clock.now()), false)
    tallies.set(key.name, kept)
    key.entry = kept
    key.entryGeneration = tallies.rotate()
    return kept
  }

  function add(key: TallyKey, delta: Partial<Delta>): void {
    const kept = find(key)
    addDelta(kept.tally, delta)
    addPending(key, kept, delta)
  }

  function addPending(key: TallyKey, kept: TallyEntry, delta: Partial<Delta>): void {
    if (!kept.pending || kept.pending.taken) kept.pending = pendingOf(key, kept)
    if (kept.pending) mergeDelta(kept.pending.delta, delta)
  }

  function changeFresh(key: TallyKey, kept: TallyEntry, { here, others }: FreshChange): void {
    if (here !== 0) addDelta(kept.tally, { fresh: here })
    if (others !== 0) addPending(key, kept, { fresh: others })
  }

  /** Null where there is no room for more. */
  function pendingOf({ accountId, key, leak, name }: TallyKey, entry: TallyEntry): PendingDelta | null {
    const known = pending.get(name)
    if (known) {
      known.entry = entry
      return known
    }
    if (pending.size >= MAX_PENDING) return null
    const sinceMs = clock.monotonic()
    const made = { accountId, key, leak, name, delta: emptyDelta(), sinceMs, entry, taken: false }
    pending.set(name, made)
    return made
  }

  async function round(all: boolean): Promise<void> {
    await sendPending(all || pending.size > MAX_HELD_BACK)
    await receiveChanges()
  }

  async function sendPending(all: boolean): Promise<void> {
    if (failed) await exchange(failed)
    const dueMs = clock.monotonic() - CALM_MS
    const due = [...pending.values()].filter(mine => all || !mine.entry.calm || mine.sinceMs <= dueMs)
    for (let from = 0; from < due.length; from += MAX_ROWS) {
      // A change that was made while an earlier page was written is in its own page.
      const page = due.slice(from, from + MAX_ROWS).sort(inOrder)
      // New counts gather separately from here on.
      for (const mine of page) {
        mine.taken = true
        pending.delete(mine.name)
      }
      const byName = new Map(page.map(mine => [mine.name, mine]))
      await exchange({ id: random.bytes(UUID_BYTES).toString('hex'), changes: page, byName })
    }
  }

  async function exchange(fold: Exchange): Promise<void> {
    failed = fold
    const rows = await store.fold(fold, clock.now())
    failed = null
    for (const row of rows) applySum(row)
  }

  async function receiveChanges(): Promise<void> {
    const nowMs = clock.monotonic()
    for (const accountId of active) {
      const usedAtMs = followed.get(accountId)?.usedAtMs ?? Number.NEGATIVE_INFINITY
      if (nowMs - usedAtMs > FOLLOWED_MS) active.delete(accountId)
    }
    if (active.size === 0) {
      // Every account is read again at its next use.
      receivedMs = null
      return
    }
    receivedMs = await receiveSince(receivedMs === null ? null : receivedMs - OVERLAP_MS)
    for (const accountId of active) {
      const account = followed.get(accountId)
      // An account that was never loaded has only the new changes, so it is not up to date.
      if (account && account.syncedAtMs > Number.NEGATIVE_INFINITY) account.syncedAtMs = nowMs
    }
  }

  /** Reads all changes, page by page; returns the time of the latest one. */
  async function receiveSince(sinceMs: number | null): Promise<number | null> {
    const { rows, asOfMs, more } = await store.changes([...active], sinceMs)
    for (const row of rows) applySum(row)
    return more ? receiveSince(asOfMs) : asOfMs
  }

  return {
    ready,
    read: key => find(key).tally,
    add,
    addUndecided(key) {
      const kept = find(key)
      changeFresh(key, kept, countCode(kept))
    },
    decide(key, isSent) {
      const kept = find(key)
      changeFresh(key, kept, decideCode(kept, isSent))
    },
    shareEarly(key) {
      const kept = find(key)
      changeFresh(key, kept, shareCodeEarly(kept))
    },
    undecided: key => find(key).undecided,
    setCalm(key, calm) {
      const kept = find(key)
      kept.calm = calm && kept.isRead
    },
    fold: (all = false) => runInTurn(() => round(all)),
  }
}

function entryOf(tally: Tally, isRead: boolean): TallyEntry {
  return { tally, isRead, undecided: 0, sharedEarly: 0, calm: false, pending: null }
}

function nameOf(accountId: AccountId, key: string): string {
  return `${accountId} ${key}`
}

/** In the order of account ids, which sort like the store's uuids, and of keys. */
function inOrder(one: TallyChange, other: TallyChange): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1
  return one.key < other.key ? -1 : Number(one.key > other.key)
}
