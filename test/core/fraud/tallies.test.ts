import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  CALM_MS,
  createTallies,
  type Fold,
  type Tallies,
  type TallyChange,
  type TallyKey,
  type TallyStore,
  tallyKey,
} from '../../../src/core/fraud/tallies.ts'
import { addDelta, ageTally, type Delta, emptyDelta, emptyTally } from '../../../src/core/fraud/tally.ts'
import { createTallyStore } from '../../../src/core/fraud/tally-store.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { type AccountId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createDice } from './traffic.ts'

let database: TestDatabase
let nowMs = Date.UTC(2026, 4, 4)
const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, after: () => () => {} }
const random = createRandom()
const ids = createIds(clock, random)

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const keyOf = (accountId: AccountId, key = 'r4:+1', leak = 2): TallyKey => tallyKey(accountId, key, leak)
let opened = 0
function openStore(): TallyStore {
  const node = ++opened
  return createTallyStore({ db: database.db, node: () => node })
}
const foldOf = (...changes: TallyChange[]): Fold => ({ id: toUuid(ids.next('evt')), changes })
const open = (store: TallyStore = openStore()) => createTallies({ store, clock, random })

test('two nodes with one store have the same tallies as a single count', async () => {
  const dice = createDice(11)
  const accountId = ids.next('acc')
  const nodes: Tallies[] = [open(), open()]
  for (const node of nodes) await node.ready(accountId)
  const single = new Map(['r4:+1', 'r5:+2', 'country:IQ'].map(key => [key, emptyTally(nowMs)]))
  // Key objects are reused, as by the guard, here by both nodes; a new object for the same key is equivalent.
  const held = new Map([...single.keys()].map(key => [key, keyOf(accountId, key)]))
  for (let step = 0; step < 60; step++) {
    nowMs += Math.floor(dice.next() * 3_600_000)
    const node = nodes[dice.below(2)]!
    for (const [key, tally] of single) {
      const delta: Partial<Delta> = {
        fresh: dice.below(8) - 3,
        settled: dice.below(8) - 3,
        sends: dice.below(5),
        verified: dice.below(3),
        ...(dice.below(20) === 0 && { heldUntilMs: nowMs + 1_800_000, heldBy: 'prefix' as const, holds: 1 }),
      }
      addDelta(ageTally(tally, nowMs, 2), delta)
      node.add(dice.below(4) === 0 ? keyOf(accountId, key) : held.get(key)!, delta)
    }
    // The node that counted stores its deltas, then the other one reads them.
    await node.fold()
    for (const each of nodes) await each.fold()
  }
  for (const [key, tally] of single) {
    for (const node of [...nodes, open()]) {
      await node.ready(accountId)
      const found = node.read(keyOf(accountId, key))
      for (const name of ['fresh', 'settled', 'sends', 'verified'] as const) {
        expect(found[name], `${key} ${name}`).toBeCloseTo(tally[name], 6)
      }
      expect(found).toMatchObject({
        heldUntilMs: tally.heldUntilMs,
        heldBy: tally.heldBy,
        holds: tally.holds,
      })
    }
  }
})

test('the pressures of a key do not fade while it is held', async () => {
  const key = keyOf(ids.next('acc'), 'r4:+4', 2)
  const node = open()
  await node.ready(key.accountId)
  const hours = (count: number) => count * 3_600_000
  node.add(key, { fresh: 10, settled: 10, heldUntilMs: nowMs + hours(1), heldBy: 'prefix', holds: 1 })
  await node.fold()
  nowMs += hours(2)
  node.add(key, { sends: 1 })
  await node.fold()
  const other = open()
  await other.ready(key.accountId)
  expect(other.read(key)).toMatchObject({ fresh: 8, settled: 8 })
})

test('of two holds the longer one wins, and a slower clock fades nothing twice', async () => {
  const key = keyOf(ids.next('acc'), 'r4:+6', 2)
  const [ahead, behind] = [openStore(), openStore()]
  const hour = 3_600_000
  const hold = (hours: number) => ({ heldUntilMs: nowMs + hours * hour, heldBy: 'prefix' as const, holds: 1 })
  const change = (delta: Partial<Delta>) => foldOf({ ...key, delta: { ...emptyDelta(), ...delta } })
  await ahead.fold(change({ fresh: 10 }), nowMs)
  await behind.fold(change({ sends: 1 }), nowMs - hour)
  const [faded] = await ahead.fold(change({ sends: 1 }), nowMs)
  expect(faded).toMatchObject({ tally: { fresh: 10 } })
  await ahead.fold(change(hold(2)), nowMs)
  const [held] = await behind.fold(change(hold(1)), nowMs)
  expect(held).toMatchObject({ tally: { heldUntilMs: nowMs + 2 * hour } })
})

test('deltas that could not be stored are stored later, and count on this node meanwhile', async () => {
  const store = openStore()
  let unavailable = false
  const node = open({
    ...store,
    async fold(fold, atMs) {
      if (unavailable) throw new Error('the database is away')
      return store.fold(fold, atMs)
    },
  })
  const key = keyOf(ids.next('acc'), 'r4:+3', 0)
  await node.ready(key.accountId)
  node.add(key, { fresh: 1 })
  await node.fold()
  unavailable = true
  node.add(key, { fresh: 3 })
  await expect(node.fold()).rejects.toThrow('away')
  node.add(key, { fresh: 2 })
  expect(node.read(key).fresh).toBe(6)
  // Long enough that it reads the account's tallies again.
  nowMs += 6_000
  await node.ready(key.accountId)
  expect(node.read(key).fresh).toBe(6)
  unavailable = false
  await node.fold()
  expect(node.read(key).fresh).toBe(6)
  const other = open()
  await other.ready(key.accountId)
  expect(other.read(key).fresh).toBe(6)
})

/** Tallies whose store folds, but where the response is lost if `isLost` says so. */
function openLosing(isLost: () => boolean): ReturnType<typeof open> {
  const store = openStore()
  return open({
    ...store,
    async fold(fold, atMs) {
      const sums = await store.fold(fold, atMs)
      if (isLost()) throw new Error('the response was lost')
      return sums
    },
  })
}

test('deltas whose store got no response are added once, with those that were added meanwhile', async () => {
  let lost = 2
  const node = openLosing(() => lost-- > 0)
  const key = keyOf(ids.next('acc'), 'r4:+3', 0)
  await node.ready(key.accountId)
  node.add(key, { fresh: 3 })
  await expect(node.fold()).rejects.toThrow('lost')
  node.add(key, { fresh: 2 })
  await expect(node.fold()).rejects.toThrow('lost')
  node.add(key, { fresh: 1 })
  await node.fold()
  const other = open()
  await other.ready(key.accountId)
  expect([node, other].map(each => each.read(key).fresh)).toEqual([6, 6])
})

test('deltas whose store got no response count once also where the account is read again before their repeat', async () => {
  let lost = true
  const node = openLosing(() => lost)
  const key = keyOf(ids.next('acc'), 'r4:+3', 0)
  await node.ready(key.accountId)
  node.add(key, { fresh: 3 })
  await expect(node.fold()).rejects.toThrow('lost')
  node.add(key, { fresh: 2 })
  // Long enough that it reads the account's tallies again.
  nowMs += 6_000
  await node.ready(key.accountId)
  expect(node.read(key).fresh).toBe(5)
  lost = false
  await node.fold()
  expect(node.read(key).fresh).toBe(5)
})

test('a fold that the server executes only after its repeat, or together with it, adds nothing', async () => {
  const store = openStore()
  const key = keyOf(ids.next('acc'), 'r4:+3', 0)
  const fold = foldOf({ ...key, delta: { ...emptyDelta(), fresh: 3 } })
  const both = await Promise.all([store.fold(fold, nowMs), store.fold(fold, nowMs)])
  for (const sums of [...both, await store.fold(fold, nowMs)]) {
    expect(sums).toMatchObject([{ key: key.key, tally: { fresh: 3 } }])
  }
})

test('nodes that store deltas of the same keys concurrently cause no deadlock', async () => {
  const accountId = ids.next('acc')
  const nodes = Array.from({ length: 4 }, () => open())
  for (let round = 0; round < 5; round++) {
    for (const [at, node] of nodes.entries()) {
      for (let n = 0; n < 200; n++) node.add(keyOf(accountId, `r4:+${(n * (at + 1)) % 200}`, 0), { fresh: 1 })
    }
    await Promise.all(nodes.map(node => node.fold()))
  }
  const reader = open()
  await reader.ready(accountId)
  let sum = 0
  for (let n = 0; n < 200; n++) sum += reader.read(keyOf(accountId, `r4:+${n}`, 0)).fresh
  expect(sum).toBe(4 * 5 * 200)
})

test('a node reads every change of other nodes once, however many there are', async () => {
  const accountId = ids.next('acc')
  const store = openStore()
  let rowsRead = 0
  const node = open({
    ...store,
    async changes(accounts, sinceMs) {
      const answer = await store.changes(accounts, sinceMs)
      rowsRead += answer.rows.length
      return answer
    },
  })
  await node.ready(accountId)
  const other = open()
  const count = 24_000
  for (let n = 1; n <= count; n++) other.add(keyOf(accountId, `r4:+${n}`), { sends: 1 })
  await other.fold()
  await node.fold()
  await node.fold()
  expect([1, count].map(n => node.read(keyOf(accountId, `r4:+${n}`)).sends)).toEqual([1, 1])
  expect(rowsRead).toBe(count)
})

test('a tally that was evicted from memory is read again when its next delta is stored', async () => {
  const key = keyOf(ids.next('acc'), 'r4:+4', 0)
  const node = open()
  await node.ready(key.accountId)
  node.add(key, { fresh: 3 })
  await node.fold()
  node.add(key, { fresh: 1 })
  for (let n = 0; n < 300_000; n++) node.read(keyOf(key.accountId, `r5:+${n}`))
  // Judged by what is left, it is far below its limits.
  node.setCalm(key, true)
  node.add(key, { fresh: 1 })
  expect(node.read(key).fresh).toBe(1)
  await node.fold()
  expect(node.read(key).fresh).toBe(5)
})

test('the other nodes learn of the changes of a calm key when they have waited, when it is no longer calm, or when all are stored', async () => {
  const accountId = ids.next('acc')
  const [node, other] = [open(), open()]
  for (const each of [node, other]) await each.ready(accountId)
  const key = keyOf(accountId, 'r4:+5', 0)
  const elsewhere = () => other.read(keyOf(accountId, 'r4:+5', 0)).fresh
  async function exchange(all = false): Promise<void> {
    await node.fold(all)
    await other.fold()
  }

  node.add(key, { sends: 1 })
  await exchange()
  node.setCalm(key, true)
  node.add(key, { fresh: 1 })
  nowMs += CALM_MS - 1_000
  node.add(key, { fresh: 1 })
  await exchange()
  expect([node.read(key).fresh, elsewhere()]).toEqual([2, 0])
  nowMs += 1_000
  await exchange()
  expect(elsewhere()).toBe(2)

  node.add(key, { fresh: 1 })
  await exchange()
  expect(elsewhere()).toBe(2)
  node.setCalm(key, false)
  await exchange()
  expect(elsewhere()).toBe(3)

  node.setCalm(key, true)
  node.add(key, { fresh: 1 })
  await exchange(true)
  expect(elsewhere()).toBe(4)
})

test('what was counted while the clock was far ahead fades once it is right again, and holds nobody', async () => {
  let aheadMs = 400 * DAY_MS
  const wrong = { ...clock, now: () => nowMs + aheadMs }
  const node = createTallies({ store: openStore(), clock: wrong, random })
  const other = createTallies({ store: openStore(), clock: wrong, random })
  const key = keyOf(ids.next('acc'), 'r4:+6')
  await node.ready(key.accountId)
  const hold = { heldUntilMs: wrong.now() + 30 * 60_000, heldBy: 'prefix', holds: 1 } as const
  node.add(key, { fresh: 10, ...hold })
  await node.fold()
  aheadMs = 0
  await other.ready(key.accountId)
  for (const each of [node, other]) {
    expect(each.read(key).fresh).toBe(10)
    expect(each.read(key).heldUntilMs).toBeLessThanOrEqual(nowMs)
  }
  node.add(key, { sends: 1 })
  await node.fold()
  nowMs += 3_600_000
  const third = open()
  await third.ready(key.accountId)
  for (const each of [node, other, third]) expect(each.read(key).fresh).toBe(8)
  expect(third.read(key).heldUntilMs).toBeLessThanOrEqual(nowMs)
})
