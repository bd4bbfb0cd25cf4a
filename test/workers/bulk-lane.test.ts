import { beforeEach, expect, test } from 'vitest'
import type { AccountSnapshot } from '../../src/contract/caller.ts'
import type { FailedRow, SendingJob } from '../../src/core/bulk/lane-store.ts'
import type { RowRequest, StoredRow } from '../../src/core/bulk/row-store.ts'
import { DatabaseUnavailable } from '../../src/infra/db.ts'
import { createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createBulkGate } from '../../src/workers/bulk-gate.ts'
import { addFetchedRows, createJobState, handedBelow, requeueRow } from '../../src/workers/bulk-job.ts'
import { type BulkLane, type BulkLaneDeps, createBulkLane } from '../../src/workers/bulk-lane.ts'
import { createBulkSlots } from '../../src/workers/bulk-slots.ts'
import { createFakeClock, type FakeClock, turn } from '../support/fake-clock.ts'

/** Which rows a lane fetches, and the states of its jobs. No row is sent here. */

let clock: FakeClock
let ids: ReturnType<typeof createIds>
let asks: RowRequest[]
let fetch: (ask: RowRequest) => Promise<StoredRow[]>
let fail: (row: FailedRow) => Promise<boolean>
let lane: BulkLane

beforeEach(() => {
  clock = createFakeClock()
  ids = createIds(clock, createRandom())
  asks = []
  fetch = () => new Promise(() => {})
  fail = () => Promise.resolve(true)
  const never = () => {
    throw new Error('nothing is sent here')
  }
  lane = createBulkLane({ accountId: ids.next('acc'), fence: 1 }, 0, {
    clock,
    ids,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    fetch(ask: RowRequest) {
      asks.push(ask)
      return fetch(ask)
    },
    acceptMessage: never,
    accept: { add: never },
    rows: { faultsOf: () => [{ path: 'to', message: 'must be there' }] },
    fail: (row: FailedRow) => fail(row),
    pause: never,
    returnHeld() {},
    noteLostAccept: never,
    undoAttempt: never,
    pausedUntil: () => 0,
    gate: createBulkGate({ clock, places: 10, duePerSecond: () => 10 }),
    slots: createBulkSlots(() => Number.POSITIVE_INFINITY),
    isCrowded: () => false,
    onLaneLost() {},
    onJobChanged() {},
  } as unknown as BulkLaneDeps)
})

const account = (bulkCeilingPerSecond: number) =>
  ({ status: 'active', plan: { bulkCeilingPerSecond } }) as AccountSnapshot

const job = (perSecond: number) =>
  ({ id: ids.next('job'), perSecond, total: 100, handedBelow: 0, status: 'queued' }) as SendingJob

test('rows that cannot be read are requested again a second later', async () => {
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

test('rows with long attachments are not fetched for a whole second', async () => {
  const body = 'x'.repeat(6_000_000)
  // As the store reads such rows: one at a time.
  fetch = async ({ from }) => [{ n: from, body }]
  fail = () => new Promise(() => {})
  lane.update([job(10)], account(10))
  lane.run()
  for (let look = 0; look < 400; look++) await clock.advance(50)
  // One is on its way, and the others wait for its connection.
  expect(asks.map(ask => ask.from)).toEqual([0, 1, 2, 3])
})

test('a job without a share of the account’s rate is queued, and none of its rows is fetched', async () => {
  const jobs = [job(4), job(4), job(4)]
  lane.update(jobs, account(6))
  expect(lane.jobStates().map(turn => turn.status)).toEqual(['running', 'running', 'queued'])
  lane.run()
  await clock.advance(10)
  expect(asks.map(ask => ask.id)).toEqual([jobs[0]!.id, jobs[1]!.id])
})

test('a job does not exceed its share of the rate, also while a job before it does not use its own', async () => {
  const jobs = [job(4), job(4)]
  const rows = Array.from({ length: 20 }, (_, n) => ({ n, body: '{}' }))
  fetch = ask => (ask.id === jobs[0]!.id ? new Promise(() => {}) : Promise.resolve(rows))
  const asked: number[] = []
  // The first row tells the connection of the others; these stay under way, each in a slot of the job.
  fail = ({ n }) => {
    asked.push(n)
    return n === 0 ? Promise.resolve(true) : new Promise(() => {})
  }
  lane.update(jobs, account(6))
  lane.run()
  for (let look = 0; look < 60; look++) await clock.advance(50)
  expect(asked).toEqual([0, 1, 2])
})

test('a job whose rows are all handed over is running, also after it was paused and resumed', async () => {
  const handedOver = { ...job(4), handedBelow: 100 }
  const rest = { ...job(4), handedBelow: 99 }
  fetch = async () => [{ n: 99, body: '{}' }]
  lane.update([handedOver, rest], account(6))
  lane.run()
  await clock.advance(1)
  await clock.advance(1)
  const statuses = () => lane.jobStates().map(turn => turn.status)
  expect(lane.jobStates().map(turn => turn.handedBelow)).toEqual([100, 100])
  expect(statuses()).toEqual(['running', 'running'])
  lane.update([], account(6))
  expect(statuses()).toEqual([])
  lane.update([handedOver, { ...rest, handedBelow: 100 }], account(6))
  expect(statuses()).toEqual(['running', 'running'])
})

test('a returning message is deferred while its job is paused, and sent once the job is resumed', async () => {
  const paused = job(3)
  const sent: string[] = []
  const deferred: string[] = []
  const comeBack = (name: string) =>
    lane.addReturning(paused.id, { send: () => void sent.push(name), defer: () => void deferred.push(name) })
  lane.update([paused], account(5))
  comeBack('before the pause')
  lane.update([], account(5))
  comeBack('during the pause')
  await clock.advance(1)
  expect([sent, deferred]).toEqual([[], ['during the pause', 'before the pause']])
  lane.update([paused], account(5))
  comeBack('after the pause')
  await clock.advance(1)
  expect(sent).toEqual(['after the pause'])
  expect(deferred).toHaveLength(2)
})

test('a suspended account has its jobs queued and fetches no rows', async () => {
  lane.update([job(4)], { ...account(6), status: 'suspended' } as AccountSnapshot)
  expect(lane.jobStates().map(turn => turn.status)).toEqual(['queued'])
  lane.run()
  await clock.advance(2_000)
  expect(asks).toEqual([])
})

test('returning messages use slots of job and account, and are deferred if either does not send', async () => {
  const [one, other] = [job(3), job(3)]
  lane.update([one, other], account(5))
  const gone: string[] = []
  const again: string[] = []
  let leave = () => {}
  const comeBack = (name: string, { id }: SendingJob) =>
    lane.addReturning(id, {
      send(leaving) {
        gone.push(name)
        leave = () => leaving.submitted(null)
      },
      defer: () => void again.push(name),
    })
  for (const name of ['a', 'b', 'c', 'd']) comeBack(name, one)
  for (const name of ['e', 'f', 'g']) comeBack(name, other)
  await clock.advance(1)
  // Three of the first job, and the rest of the account's five.
  expect([gone, again]).toEqual([['a', 'b', 'c', 'e', 'f'], ['d']])
  // A slot is free again one window after its use, and not before.
  leave()
  await clock.advance(1_000)
  expect(gone).toHaveLength(5)
  await clock.advance(10)
  expect(gone.at(-1)).toBe('g')
  comeBack('h', one)
  lane.update([one, other], account(0))
  lane.run()
  comeBack('i', other)
  lane.update([other], account(5))
  comeBack('j', one)
  expect(again).toEqual(['d', 'h', 'i', 'j'])
  comeBack('k', other)
  await lane.stop()
  comeBack('l', other)
  expect(again).toEqual(['d', 'h', 'i', 'j', 'k', 'l'])
})

test('a lane is not idle while a message that it has let go is yet to be sent', async () => {
  const one = job(3)
  let leave = () => {}
  lane.update([one], account(5))
  lane.addReturning(one.id, {
    send(leaving) {
      leave = () => leaving.submitted(null)
    },
    defer() {},
  })
  await clock.advance(1)
  lane.update([], account(5))
  expect(lane.isIdle()).toBe(false)
  leave()
  expect(lane.isIdle()).toBe(true)
  await lane.stop()
})

test('a row that this node could not end does not count as handed over', async () => {
  fetch = ask =>
    ask.from === 0
      ? Promise.resolve([
          { n: 0, body: '{}' },
          { n: 1, body: '{}' },
        ])
      : new Promise(() => {})
  fail = async ({ n }) => n !== 0
  lane.update([job(4)], account(6))
  lane.run()
  for (let look = 0; look < 30; look++) await clock.advance(50)
  expect(lane.jobStates()).toMatchObject([{ handedBelow: 0 }])
  await lane.stop()
})

test('rows that were requested before a pause are ignored after it', async () => {
  const answers: ((rows: StoredRow[]) => void)[] = []
  fetch = () => new Promise(resolve => answers.push(resolve))
  const paused = { ...job(5), handedBelow: 50 }
  lane.update([paused], account(10))
  lane.run()
  lane.update([], account(10))
  // Rows that waited in memory were not handed over, so the database has a lower number.
  lane.update([{ ...paused, handedBelow: 40 }], account(10))
  answers[0]!([])
  await clock.advance(1)
  expect(asks.map(ask => ask.from)).toEqual([50, 40])
  expect(lane.jobStates()).toMatchObject([{ status: 'running', handedBelow: 40 }])
})

test('a job that is paused while a row is in progress reads its other rows again after it, and sends each once', async () => {
  const answers: ((rows: StoredRow[]) => void)[] = []
  const rows = [50, 51].map(n => ({ n, body: '{}' }))
  const failed: number[] = []
  const first = Promise.withResolvers<boolean>()
  fetch = () => new Promise(resolve => answers.push(resolve))
  fail = ({ n }) => {
    failed.push(n)
    return n === 50 ? first.promise : Promise.resolve(true)
  }
  const paused = { ...job(1), handedBelow: 50 }
  const resume = () => {
    lane.update([], account(10))
    lane.update([paused], account(10))
    lane.run()
  }
  lane.update([paused], account(10))
  lane.run()
  answers[0]!(rows)
  await clock.advance(1)
  expect(failed).toEqual([50])
  resume()
  expect(asks.map(ask => ask.from)).toEqual([50, 50])
  // The response to a request from before the second pause is ignored.
  resume()
  answers[1]!([])
  await clock.advance(1)
  expect(asks.map(ask => ask.from)).toEqual([50, 50, 50])
  answers[2]!(rows)
  await clock.advance(1)
  expect(lane.jobStates()).toMatchObject([{ status: 'running', handedBelow: 50 }])
  first.resolve(true)
  await clock.advance(2_000)
  expect(failed).toEqual([50, 51])
})

test('rows are queued once each and in order, also those that were requeued during a fetch', () => {
  const known = createJobState(clock, { ...job(5), handedBelow: 30 })
  const rows = (...numbers: number[]) => numbers.map(n => ({ n, body: '{}' }))
  known.inFlight.push(33)
  requeueRow(known, { n: 31, body: '{}' })
  addFetchedRows(known, rows(30, 31, 32, 33, 34))
  expect(known.waiting.map(row => row.n)).toEqual([30, 31, 32, 34])
  expect(handedBelow(known)).toBe(30)
  addFetchedRows(known, rows(35, 36))
  expect(known.waiting.map(row => row.n)).toEqual([30, 31, 32, 34, 35, 36])
})

test('a full gate admits waiting callers in order when places become free', async () => {
  const gate = createBulkGate({ clock, places: 2, duePerSecond: () => 1_000 })
  const letIn: string[] = []
  const ask = (name: string) => {
    if (!gate.tryEnter(false)) return gate.wait(() => ask(name))
    letIn.push(name)
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name)
  expect(letIn).toEqual(['a', 'b'])
  gate.leave(true)
  gate.leave(true)
  await clock.advance(1)
  expect(letIn).toEqual(['a', 'b', 'c', 'd'])
  gate.leave(true)
  await clock.advance(1)
  expect(letIn).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('the gate admits the rows of a second over half a second, and those of a lane together', async () => {
  const gate = createBulkGate({ clock, places: 1_000, duePerSecond: () => 400 })
  let inside = 0
  const createRun = () =>
    function run() {
      for (let row = 0; row < 4; row++) {
        if (!gate.tryEnter(row > 0)) return gate.wait(run)
        inside++
      }
    }
  for (let lane = 0; lane < 100; lane++) createRun()()
  expect(inside).toBe(32)
  await clock.advance(100)
  expect(inside).toBeGreaterThanOrEqual(100)
  expect(inside).toBeLessThanOrEqual(32 + 80 + 4)
  expect(inside % 4).toBe(0)
  await clock.advance(400)
  expect(inside).toBe(400)
  // Rows that were not sent do not count.
  for (let row = 0; row < 400; row++) gate.leave(false)
  createRun()()
  expect(inside).toBe(404)
})

test('a row that leaves the gate unsent makes room for another at once, a sent one does not', () => {
  const gate = createBulkGate({ clock, places: 1_000, duePerSecond: () => 400 })
  while (gate.tryEnter(false));
  gate.leave(true)
  expect(gate.tryEnter(false)).toBe(false)
  gate.leave(false)
  expect(gate.tryEnter(false)).toBe(true)
})

test('rows wait in order for free slots of the connection that their job uses', async () => {
  const connection = ids.next('cnn')
  const other = ids.next('cnn')
  let places = 2
  const room = createBulkSlots(id => (id === connection ? places : 1))
  const arrived = [room.reserve(connection), room.reserve(connection)]
  expect([room.hasFreeSlot(connection), room.hasFreeSlot(other), room.hasFreeSlot(null)]).toEqual([
    false,
    true,
    true,
  ])
  const went: string[] = []
  for (const name of ['a', 'b']) {
    room.wait(connection, () => {
      went.push(name)
      places--
    })
  }
  // It took the last slot but one, and releases its reservation; the second call does nothing.
  places = 1
  arrived[0]!()
  arrived[0]!()
  await clock.advance(1)
  expect(went).toEqual([])
  arrived[1]!()
  await clock.advance(1)
  expect(went).toEqual(['a'])
  places = 1
  room.slotFreed(connection)
  await clock.advance(1)
  expect(went).toEqual(['a', 'b'])
})

test('waiting rows that reserve no slot run one per turn of the event loop', async () => {
  const connection = ids.next('cnn')
  const room = createBulkSlots(() => 100)
  const went: number[] = []
  for (let n = 0; n < 5; n++) {
    room.wait(connection, () => {
      went.push(n)
      if (n === 3) room.reserve(connection)
    })
  }
  room.slotFreed(connection)
  for (const seen of [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3, 4]]) {
    await turn()
    expect(went).toEqual(seen)
  }
})
