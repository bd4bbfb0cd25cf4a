import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createTallies,
  type Tallies,
  type TallyKey,
  type TallyStore,
  tallyKey,
} from '../../../src/core/fraud/tallies.ts'
import { add, age, type Delta, emptyTally } from '../../../src/core/fraud/tally.ts'
import { createTallyStore } from '../../../src/core/fraud/tally-store.ts'
import { giveTurnBack } from '../../../src/core/fraud/turn-store.ts'
import { createTurns } from '../../../src/core/fraud/turns.ts'
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
const open = (store: TallyStore = createTallyStore({ db: database.db })) => createTallies({ store, clock })

test('two nodes and the store count like one, whatever is counted and whenever', async () => {
  const dice = createDice(11)
  const accountId = ids.next('acc')
  const nodes: Tallies[] = [open(), open()]
  for (const node of nodes) await node.ready(accountId)
  const alone = new Map(['r4:+1', 'r5:+2', 'country:IQ'].map(key => [key, emptyTally(nowMs)]))
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
      add(age(tally, nowMs, 2), delta)
      node.add(keyOf(accountId, key), delta)
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
  const store = createTallyStore({ db: database.db })
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

test('turns: a window that moves, a turn that is given back, and none beyond the limit', async () => {
  const turns = createTurns({ db: database.db })
  const asker = () => ({ accountId, recipient: '+12025550123', nowMs })
  const accountId = ids.next('acc')
  const limit = { sends: 3, windowMinutes: 10, strict: true }
  const startMs = nowMs
  for (let n = 1; n <= 3; n++) {
    expect(await turns.take(asker(), limit)).toEqual({ taken: true, turns: n, atMs: nowMs })
    nowMs += 60_000
  }
  expect(await turns.take(asker(), limit)).toEqual({ taken: false, freeAtMs: startMs + 600_000 })
  // With a limit of two, the second of the three is the one to wait for.
  expect(await turns.take(asker(), { ...limit, sends: 2 })).toEqual({
    taken: false,
    freeAtMs: startMs + 660_000,
  })
  expect(await turns.take(asker(), { ...limit, strict: false })).toMatchObject({ taken: true, turns: 4 })
  nowMs = startMs + 600_000
  expect(await turns.take(asker(), { ...limit, sends: 4 })).toMatchObject({ taken: true, turns: 4 })
  // What is given back is the turn of that time, and no other.
  const early = nowMs
  nowMs += 601_000
  for (const atMs of [nowMs, nowMs + 60_000, nowMs + 60_000]) {
    expect(await turns.take({ ...asker(), nowMs: atMs }, limit)).toMatchObject({ taken: true, atMs })
  }
  for (const atMs of [nowMs, early]) await giveTurnBack(database.db, asker(), atMs)
  expect(await turns.take({ ...asker(), nowMs: nowMs + 61_000 }, limit)).toMatchObject({ turns: 3 })
  expect(await turns.take({ ...asker(), nowMs: nowMs + 601_000 }, limit)).toMatchObject({ taken: false })
  nowMs += 1_801_000
  const racing = await Promise.all(Array.from({ length: 30 }, () => turns.take(asker(), limit)))
  expect(racing.filter(({ taken }) => taken)).toHaveLength(3)
})
