import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createTallies,
  type Tallies,
  type TallyKey,
  type TallyStore,
  tallyKey,
} from '../../../src/core/fraud/tallies.ts'
import { addDelta, ageTally, type Delta, emptyTally } from '../../../src/core/fraud/tally.ts'
import { createTallyStore } from '../../../src/core/fraud/tally-store.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createDice } from './traffic.ts'

let database: TestDatabase
let nowMs = Date.UTC(2026, 4, 4)
const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, after: () => () => {} }
const ids = createIds(clock, createRandom())

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
const open = (store: TallyStore = openStore()) => createTallies({ store, clock })

test('two nodes and the store count like one, whatever is counted and whenever', async () => {
  const dice = createDice(11)
  const accountId = ids.next('acc')
  const nodes: Tallies[] = [open(), open()]
  for (const node of nodes) await node.ready(accountId)
  const alone = new Map(['r4:+1', 'r5:+2', 'country:IQ'].map(key => [key, emptyTally(nowMs)]))
  // Used again and again, as the guard does, here by both nodes in turns; a new one means the same.
  const held = new Map([...alone.keys()].map(key => [key, keyOf(accountId, key)]))
  for (let step = 0; step < 60; step++) {
    nowMs += Math.floor(dice.next() * 3_600_000)
    const node = nodes[dice.below(2)]!
    for (const [key, tally] of alone) {
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
    // The one that counted tells, the other one hears.
    await node.fold()
    for (const each of nodes) await each.fold()
  }
  for (const [key, tally] of alone) {
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

test('what could not be told is told later, and counts here meanwhile', async () => {
  const store = openStore()
  let away = true
  const node = open({
    ...store,
    async fold(deltas, atMs) {
      if (away) throw new Error('the database is away')
      return store.fold(deltas, atMs)
    },
  })
  const key = keyOf(ids.next('acc'), 'r4:+3', 0)
  await node.ready(key.accountId)
  node.add(key, { fresh: 3 })
  await expect(node.fold()).rejects.toThrow('away')
  node.add(key, { fresh: 2 })
  expect(node.read(key).fresh).toBe(5)
  away = false
  await node.fold()
  expect(node.read(key).fresh).toBe(5)
  const other = open()
  await other.ready(key.accountId)
  expect(other.read(key).fresh).toBe(5)
})

test('nodes that tell of the same keys at once never wait in a circle', async () => {
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

test('all that others changed is heard of, however much it is, and once', async () => {
  const accountId = ids.next('acc')
  const store = openStore()
  let heard = 0
  const node = open({
    ...store,
    async changes(accounts, sinceMs) {
      const answer = await store.changes(accounts, sinceMs)
      heard += answer.rows.length
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
  expect(heard).toBe(count)
})

test('what was forgotten for want of room is known again once it was told of', async () => {
  const key = keyOf(ids.next('acc'), 'r4:+4', 0)
  const node = open()
  await node.ready(key.accountId)
  node.add(key, { fresh: 3 })
  await node.fold()
  node.add(key, { fresh: 1 })
  for (let n = 0; n < 300_000; n++) node.read(keyOf(key.accountId, `r5:+${n}`))
  node.add(key, { fresh: 1 })
  expect(node.read(key).fresh).toBe(1)
  await node.fold()
  expect(node.read(key).fresh).toBe(5)
})
