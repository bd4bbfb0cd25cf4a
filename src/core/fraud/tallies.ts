import type { Clock } from '../../lib/clock.ts'
import { createGenerations } from '../../lib/generations.ts'
import type { AccountId } from '../../lib/ids.ts'
import { add, age, type Delta, emptyDelta, emptyTally, gather, type Tally } from './tally.ts'

/** One key of an account, and what leaks from its pressures in an hour; `name` tells it from all others. */
export type TallyKey = { accountId: AccountId; key: string; leak: number; name: string }

/** A key is used many times for each send: it is named once. */
export function tallyKey(accountId: AccountId, key: string, leak: number): TallyKey {
  return { accountId, key, leak, name: nameOf(accountId, key) }
}

export type TallyRow = { accountId: AccountId; key: string; tally: Tally }

/** Where nodes put together what each of them counted. */
export type TallyStore = {
  /** Adds; the sums, of these keys alone. */
  fold(deltas: readonly (TallyKey & { delta: Delta })[], nowMs: number): Promise<TallyRow[]>
  /**
   * What other nodes changed of these accounts since `sinceMs` by the store's own clock, in the last
   * seconds where that is null, and was not told before; and when the last of it was changed, by
   * that clock, or `sinceMs` where nothing was. `more`: there was too much for one answer.
   */
  changes(
    accounts: readonly AccountId[],
    sinceMs: number | null,
  ): Promise<{ rows: TallyRow[]; asOfMs: number | null; more: boolean }>
  /** What was changed last of an account. */
  load(accountId: AccountId): Promise<TallyRow[]>
}

/**
 * What is counted, in the memory of this node: read and added to at once, told to
 * the other nodes and heard from them at every `fold`. What is forgotten for want
 * of room comes back with the first fold after it was added to.
 */
export type Tallies = {
  /** Brings in what was counted before, and elsewhere; at once for an account that was asked about of late. */
  ready(accountId: AccountId): void | Promise<void>
  /** As of now. Not to be changed. */
  read(key: TallyKey): Readonly<Tally>
  add(key: TallyKey, delta: Partial<Delta>): void
  fold(): Promise<void>
}

/** 200 bytes each. */
const MOST_TALLIES = 200_000
const MOST_ACCOUNTS = 5_000
/** Keys that may wait for a fold: more than a node can send in the seconds that a database may be away. */
const MOST_UNTOLD = 100_000
const MOST_ROWS = 2_000
/** An account that nobody asked about for so long is no longer followed. */
const FOLLOWED_MS = 60_000
/** What was not brought up to date for so long is read anew before it is used. */
const STALE_MS = 5_000
/** A change becomes visible when it is committed, which is later than its time says. */
const OVERLAP_MS = 5_000

type Untold = TallyKey & { delta: Delta }
type Followed = { askedAtMs: number; heardAtMs: number; loading: Promise<void> | null }

export function createTallies({ store, clock }: { store: TallyStore; clock: Clock }): Tallies {
  const tallies = createGenerations<string, Tally>(MOST_TALLIES)
  const followed = createGenerations<AccountId, Followed>(MOST_ACCOUNTS)
  const active = new Set<AccountId>()
  const untold = new Map<string, Untold>()
  let heardMs: number | null = null
  let last: Promise<unknown> = Promise.resolve()

  /** What is read while something is told would bring back what was before it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  function ready(accountId: AccountId): void | Promise<void> {
    const nowMs = clock.monotonic()
    const account = followed.get(accountId) ?? follow(accountId)
    account.askedAtMs = nowMs
    active.add(accountId)
    if (nowMs - account.heardAtMs <= STALE_MS) return
    account.loading ??= inTurn(() => load(accountId, account)).finally(() => {
      account.loading = null
    })
    return account.loading
  }

  function follow(accountId: AccountId): Followed {
    const account = { askedAtMs: 0, heardAtMs: Number.NEGATIVE_INFINITY, loading: null }
    followed.set(accountId, account)
    return account
  }

  async function load(accountId: AccountId, account: Followed): Promise<void> {
    const startedMs = clock.monotonic()
    for (const row of await store.load(accountId)) hear(row)
    account.heardAtMs = startedMs
  }

  /** What all have counted, and what this node has to tell beyond it. */
  function hear({ accountId, key, tally }: TallyRow): void {
    const name = nameOf(accountId, key)
    const mine = untold.get(name)
    if (mine) add(age(tally, clock.now(), mine.leak), mine.delta)
    tallies.set(name, tally)
  }

  function find({ name, leak }: TallyKey): Tally {
    const known = tallies.get(name)
    if (known) return age(known, clock.now(), leak)
    const made = emptyTally(clock.now())
    tallies.set(name, made)
    return made
  }

  function tell(key: TallyKey, delta: Partial<Delta>): void {
    let mine = untold.get(key.name)
    if (!mine) {
      if (untold.size >= MOST_UNTOLD) return
      mine = { ...key, delta: emptyDelta() }
      untold.set(key.name, mine)
    }
    gather(mine.delta, delta)
  }

  async function round(): Promise<void> {
    await tellOthers()
    await hearOthers()
  }

  async function tellOthers(): Promise<void> {
    while (untold.size > 0) {
      const page = [...untold.values()].slice(0, MOST_ROWS).sort(inOrder)
      // From here on new counts gather anew; should the store be away, these join them again.
      for (const { name } of page) untold.delete(name)
      try {
        for (const row of await store.fold(page, clock.now())) hear(row)
      } catch (error) {
        for (const { delta, ...key } of page) tell(key, delta)
        throw error
      }
      if (page.length < MOST_ROWS) return
    }
  }

  async function hearOthers(): Promise<void> {
    const nowMs = clock.monotonic()
    for (const accountId of active) {
      const askedAtMs = followed.get(accountId)?.askedAtMs ?? Number.NEGATIVE_INFINITY
      if (nowMs - askedAtMs > FOLLOWED_MS) active.delete(accountId)
    }
    if (active.size === 0) {
      // Whoever is asked about next is read anew.
      heardMs = null
      return
    }
    heardMs = await hearSince(heardMs === null ? null : heardMs - OVERLAP_MS)
    for (const accountId of active) {
      const account = followed.get(accountId)
      // One that was never loaded has only heard of what is new.
      if (account && account.heardAtMs > Number.NEGATIVE_INFINITY) account.heardAtMs = nowMs
    }
  }

  /** All of it, however much; when the last of it was changed. */
  async function hearSince(sinceMs: number | null): Promise<number | null> {
    const { rows, asOfMs, more } = await store.changes([...active], sinceMs)
    for (const row of rows) hear(row)
    return more ? hearSince(asOfMs) : asOfMs
  }

  return {
    ready,
    read: find,
    add(key, delta) {
      add(find(key), delta)
      tell(key, delta)
    },
    fold: () => inTurn(round),
  }
}

function nameOf(accountId: AccountId, key: string): string {
  return `${accountId} ${key}`
}

/** Ids sort like the store's uuids. */
function inOrder(one: TallyKey, other: TallyKey): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1
  return one.key < other.key ? -1 : Number(one.key > other.key)
}
