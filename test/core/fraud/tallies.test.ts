import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Turn } from '../../../src/core/fraud/guard.ts'
import {
  createTallies,
  type Tallies,
  type TallyKey,
  type TallyStore,
  tallyKey,
} from '../../../src/core/fraud/tallies.ts'
import { add, age, type Delta, emptyTally } from '../../../src/core/fraud/tally.ts'
import { createTallyStore } from '../../../src/core/fraud/tally-store.ts'
import { giveTurnsBack } from '../../../src/core/fraud/turn-store.ts'
import { createTurns, sweepAllTurns } from '../../../src/core/fraud/turns.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { takeTurns } from '../../support/turns.ts'
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

test('all that others changed is heard of, however much it is', async () => {
  const accountId = ids.next('acc')
  const node = open()
  await node.ready(accountId)
  const count = 20_500
  await database.db.query({
    name: 'tallies_storm',
    text: `insert into fraud_tallies (account_id, key, at, fresh, settled, sends, verified, holds, changed_at)
             select $1, 'r4:+' || n, $2, 0, 0, 1, 0, 0, clock_timestamp() from generate_series(1, $3) n`,
    values: [toUuid(accountId), new Date(nowMs).toISOString(), count],
  })
  await node.fold()
  await node.fold()
  expect([1, count].map(n => node.read(keyOf(accountId, `r4:+${n}`)).sends)).toEqual([1, 1])
})

test('turns: a window that moves, a turn that is given back, and none beyond the limit', async () => {
  const { db } = database
  const turns = createTurns({ db })
  const accountId = ids.next('acc')
  const limit = { person: '+12025550123', sends: 3, windowMinutes: 10, strict: true }
  const take = async (atMs: number, more: Partial<Turn> = {}) =>
    (await takeTurns(db, [{ ...limit, ...more, accountId, atMs }]))[0]
  const freeAt = (more: Partial<Turn> = {}) => turns.freeAt(accountId, { ...limit, ...more }, nowMs)
  const startMs = nowMs
  for (let n = 1; n <= 3; n++) {
    expect(await take(nowMs)).toBe('taken')
    nowMs += 60_000
  }
  expect(await take(nowMs)).toBe('late')
  expect(await freeAt()).toBe(startMs + 600_000)
  // With a limit of two, the second of the three is the one to wait for.
  expect(await take(nowMs, { sends: 2 })).toBe('late')
  expect(await freeAt({ sends: 2 })).toBe(startMs + 660_000)
  expect(await take(nowMs, { strict: false })).toBe('watched')
  nowMs = startMs + 600_000
  expect(await take(nowMs, { sends: 4 })).toBe('taken')
  expect(await take(nowMs, { sends: 4 })).toBe('late')
  // What is given back is the turn of that time, and no other.
  const early = nowMs
  nowMs += 601_000
  for (const atMs of [nowMs, nowMs + 60_000, nowMs + 60_000]) expect(await take(atMs)).toBe('taken')
  const given = (atMs: number) => ({ accountId, person: limit.person, atMs })
  await giveTurnsBack(db, [given(nowMs)])
  await giveTurnsBack(db, [given(early)])
  expect(await take(nowMs + 61_000)).toBe('taken')
  expect(await take(nowMs + 601_000)).toBe('late')
  nowMs += 1_801_000
  const racing = await Promise.all(Array.from({ length: 30 }, () => take(nowMs)))
  expect(racing.filter(turn => turn === 'taken')).toHaveLength(3)
})

test('turns: of a batch each has its own, those that are only counted go on, and the idle are forgotten', async () => {
  const { db } = database
  const accountId = ids.next('acc')
  const ask = (n: number, strict: boolean) => ({
    ...{ accountId, person: `+1202555${1_000 + n}`, sends: 1, windowMinutes: 10, strict, atMs: nowMs + n },
  })
  const batch = [ask(3, true), ask(1, false), ask(2, true), ask(0, false)]
  expect(await takeTurns(db, batch)).toEqual(['taken', 'taken', 'taken', 'taken'])
  expect(await takeTurns(db, [batch[1]!, batch[2]!, ask(9, true)])).toEqual(['watched', 'late', 'taken'])
  const left = async () => {
    const { rows } = await db.query<{ recipient: string }>({
      name: 'turns_left',
      text: 'select recipient from fraud_recipients where account_id = $1 order by 1',
      values: [toUuid(accountId)],
    })
    return rows.map(({ recipient }) => recipient.slice(-1))
  }
  await sweepAllTurns(db, nowMs + 600_002)
  expect(await left()).toEqual(['2', '3', '9'])
  await sweepAllTurns(db, nowMs + 600_010)
  expect(await left()).toEqual([])
})
