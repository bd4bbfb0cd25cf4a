import { beforeEach, expect, test } from 'vitest'
import type { AccountSnapshot } from '../../src/contract/caller.ts'
import type { SendingJob } from '../../src/core/bulk/lane-store.ts'
import type { RowAsk, StoredRow } from '../../src/core/bulk/row-store.ts'
import { DatabaseUnavailable } from '../../src/infra/db.ts'
import { createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createBulkGate } from '../../src/workers/bulk-gate.ts'
import { type BulkLane, type BulkLaneDeps, createBulkLane } from '../../src/workers/bulk-lane.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

/** What a lane asks for, and what it says of its jobs; its rows never come to be sent here. */

let clock: FakeClock
let ids: ReturnType<typeof createIds>
let asks: RowAsk[]
let fetch: (ask: RowAsk) => Promise<StoredRow[]>
let lane: BulkLane

beforeEach(() => {
  clock = createFakeClock()
  ids = createIds(clock, createRandom())
  asks = []
  fetch = () => new Promise(() => {})
  const never = () => {
    throw new Error('nothing is sent here')
  }
  lane = createBulkLane({ accountId: ids.next('acc'), fence: 1 }, {
    clock,
    ids,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    fetch(ask: RowAsk) {
      asks.push(ask)
      return fetch(ask)
    },
    acceptMessage: never,
    accept: { add: never },
    fail: never,
    pause: never,
    neverMade: never,
    restsUntil: () => 0,
    gate: createBulkGate(10),
    lost() {},
    moved() {},
  } as unknown as BulkLaneDeps)
})

const account = (bulkCeilingPerSecond: number) =>
  ({ status: 'active', plan: { bulkCeilingPerSecond } }) as AccountSnapshot

const job = (perSecond: number) =>
  ({ id: ids.next('job'), perSecond, total: 100, handedBelow: 0, status: 'queued' }) as SendingJob

test('rows that cannot be read are asked for again a second later, not at once', async () => {
  fetch = async () => {
    throw new DatabaseUnavailable(new Error('away'))
  }
  lane.update([job(5)], account(10))
  lane.run()
  for (let seconds = 1; seconds <= 4; seconds++) {
    for (let look = 0; look < 10; look++) await clock.advance(90)
    expect(asks).toHaveLength(seconds)
    await clock.advance(101)
  }
})

test('a job for which nothing is left is queued, and nothing of it is fetched', async () => {
  const jobs = [job(4), job(4), job(4)]
  lane.update(jobs, account(6))
  expect(lane.turns().map(turn => turn.status)).toEqual(['running', 'running', 'queued'])
  lane.run()
  await clock.advance(10)
  expect(asks.map(ask => ask.id)).toEqual([jobs[0]!.id, jobs[1]!.id])
})

test('an account that is not active hands nothing over', async () => {
  lane.update([job(4)], { ...account(6), status: 'suspended' } as AccountSnapshot)
  expect(lane.turns().map(turn => turn.status)).toEqual(['queued'])
  lane.run()
  await clock.advance(2_000)
  expect(asks).toEqual([])
})

test('whoever finds the gate full comes in when there is a place, in the order of asking', async () => {
  const gate = createBulkGate(2)
  const letIn: string[] = []
  const ask = (name: string) => {
    if (!gate.tryEnter()) return gate.wait(() => ask(name))
    letIn.push(name)
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name)
  expect(letIn).toEqual(['a', 'b'])
  gate.leave()
  gate.leave()
  await clock.advance(1)
  expect(letIn).toEqual(['a', 'b', 'c', 'd'])
  gate.leave()
  await clock.advance(1)
  expect(letIn).toEqual(['a', 'b', 'c', 'd', 'e'])
})
