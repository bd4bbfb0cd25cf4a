import type { Clock } from '../../lib/clock.ts'
import { createGenerations } from '../../lib/generations.ts'
import type { AccountId } from '../../lib/ids.ts'
import { add, age, type Delta, emptyDelta, emptyTally, gather, type Tally } from './tally.ts'

/** One key of an account, and what leaks from its pressures in an hour; `name` tells it from all others. */
export type TallyKey = {
  readonly accountId: AccountId
  readonly key: string
  readonly leak: number
  readonly name: string
  /** Where it was found, and in which turn (generations.ts) of what is kept: one look is enough for all of it. */
  found: Kept | null
  foundIn: object | null
}

/** A key is used many times for each send: it is named once. */
export function tallyKey(accountId: AccountId, key: string, leak: number): TallyKey {
  return { accountId, key, leak, name: nameOf(accountId, key), found: null, foundIn: null }
}

/** What all have counted of a key, as far as it is known here, and what of it the others were not told. */
type Kept = { tally: Tally; untold: Untold | null }
type Untold = TallyChange & { name: string; taken: boolean }

/** What one node adds to a key. */
export type TallyChange = { accountId: AccountId; key: string; leak: number; delta: Delta }
export type TallyRow = { accountId: AccountId; key: string; tally: Tally }

/** Where nodes put together what each of them counted. */
export type TallyStore = {
  /** Adds; the sums, of these keys alone. */
  fold(changes: readonly TallyChange[], nowMs: number): Promise<TallyRow[]>
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

type Followed = { askedAtMs: number; heardAtMs: number; loading: Promise<void> | null }

export function createTallies({ store, clock }: { store: TallyStore; clock: Clock }): Tallies {
  const tallies = createGenerations<string, Kept>(MOST_TALLIES)
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
    const known = tallies.get(name)
    if (known) known.tally = tally
    else tallies.set(name, { tally, untold: null })
  }

  function find(key: TallyKey): Kept {
    const kept = key.found !== null && key.foundIn === tallies.turn() ? key.found : lookUp(key)
    age(kept.tally, clock.now(), key.leak)
    return kept
  }

  function lookUp(key: TallyKey): Kept {
    const kept = tallies.get(key.name) ?? { tally: emptyTally(clock.now()), untold: null }
    tallies.set(key.name, kept)
    key.found = kept
    key.foundIn = tallies.turn()
    return kept
  }

  function tell(key: TallyKey, kept: Kept, delta: Partial<Delta>): void {
    if (!kept.untold || kept.untold.taken) kept.untold = untoldOf(key)
    if (kept.untold) gather(kept.untold.delta, delta)
  }

  /** Null where there is no room for more. */
  function untoldOf({ accountId, key, leak, name }: TallyKey): Untold | null {
    const known = untold.get(name)
    if (known) return known
    if (untold.size >= MOST_UNTOLD) return null
    const made = { accountId, key, leak, name, delta: emptyDelta(), taken: false }
    untold.set(name, made)
    return made
  }

  async function round(): Promise<void> {
    await tellOthers()
    await hearOthers()
  }

  async function tellOthers(): Promise<void> {
    while (untold.size > 0) {
      const page = [...untold.values()].slice(0, MOST_ROWS).sort(inOrder)
      // From here on new counts gather anew; should the store be away, these join them again.
      for (const mine of page) {
        mine.taken = true
        untold.delete(mine.name)
      }
      try {
        for (const row of await store.fold(page, clock.now())) hear(row)
      } catch (error) {
        for (const mine of page) tellAgain(mine)
        throw error
      }
      if (page.length < MOST_ROWS) return
    }
  }

  function tellAgain(mine: Untold): void {
    const meanwhile = untold.get(mine.name)
    if (meanwhile) gather(meanwhile.delta, mine.delta)
    else if (untold.size < MOST_UNTOLD) untold.set(mine.name, { ...mine, taken: false })
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
    read: key => find(key).tally,
    add(key, delta) {
      const kept = find(key)
      add(kept.tally, delta)
      tell(key, kept, delta)
    },
    fold: () => inTurn(round),
  }
}

function nameOf(accountId: AccountId, key: string): string {
  return `${accountId} ${key}`
}

/** Ids sort like the store's uuids. */
function inOrder(one: TallyChange, other: TallyChange): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1
  return one.key < other.key ? -1 : Number(one.key > other.key)
}
