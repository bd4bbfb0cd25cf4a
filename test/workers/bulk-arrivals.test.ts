import { beforeEach, expect, test } from 'vitest'
import type { ConnectionId } from '../../src/lib/ids.ts'
import { type Arrivals, createArrivals } from '../../src/workers/bulk-arrivals.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

/** From when a row counts, by what its provider's answers say of its way. */

const HERE = 'con_a' as ConnectionId
const ELSEWHERE = 'con_b' as ConnectionId

let clock: FakeClock
let isBusy: boolean
let arrivals: Arrivals

beforeEach(() => {
  clock = createFakeClock()
  isBusy = false
  arrivals = createArrivals(clock, () => isBusy)
})

/** A row that leaves now; `lateMs`: so long after leaving it counts from, null while that is not known. */
function leave(connectionId: ConnectionId | null = HERE) {
  const leftMs = clock.monotonic()
  const row = { lateMs: null as number | null, answered: () => leaving.answered() }
  const leaving = arrivals.follow((atMs = clock.monotonic()) => {
    row.lateMs ??= atMs - leftMs
  })
  leaving.submitted(connectionId)
  return row
}

async function answeredAfter(ms: number, connectionId = HERE): Promise<number | null> {
  const row = leave(connectionId)
  await clock.advance(ms)
  row.answered()
  return row.lateMs
}

test('a row whose answer is later than usual counts from so much later', async () => {
  expect(await answeredAfter(20)).toBe(20)
  expect(await answeredAfter(20)).toBe(0)
  expect(await answeredAfter(90)).toBe(70)
})

test('a provider that always takes its time costs nothing, and another one’s is its own', async () => {
  expect(await answeredAfter(300)).toBe(100)
  expect(await answeredAfter(300)).toBe(0)
  expect(await answeredAfter(2, ELSEWHERE)).toBe(2)
  expect(await answeredAfter(300)).toBe(0)
})

test('one answer out of the ordinary does not become usual', async () => {
  await answeredAfter(20)
  await answeredAfter(700)
  expect(await answeredAfter(80)).toBeGreaterThan(50)
})

test('one that got slower is usual after a while', async () => {
  await answeredAfter(10)
  for (let row = 0; row < 100; row++) await answeredAfter(200)
  expect(await answeredAfter(200)).toBeLessThan(1)
})

test('who has not answered a tenth of a second after the usual is not waited for', async () => {
  await answeredAfter(100)
  const row = leave()
  await clock.advance(199)
  expect(row.lateMs).toBeNull()
  await clock.advance(1)
  expect(row.lateMs).toBe(100)
  row.answered()
  row.answered()
  expect(row.lateMs).toBe(100)
  expect(clock.pending()).toBe(0)
})

test('behind a provider that is slow each time, among very many rows, and where nobody knows, it counts as it leaves', async () => {
  for (let row = 0; row < 2; row++) await answeredAfter(3_000)
  expect(leave().lateMs).toBe(0)
  expect(leave(null).lateMs).toBe(0)
  isBusy = true
  expect(leave(ELSEWHERE).lateMs).toBe(0)
  expect(clock.pending()).toBe(0)
})
