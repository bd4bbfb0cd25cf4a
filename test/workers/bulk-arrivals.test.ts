import { beforeEach, expect, test } from 'vitest'
import type { ConnectionId } from '../../src/lib/ids.ts'
import { type Arrivals, createArrivals } from '../../src/workers/bulk-arrivals.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

/** From when a row counts, as estimated from the response times of its provider. */

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

/** Sends a row now. `lateMs` is how long after that it counts from, null while that is not known. */
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

test('a row whose response is later than usual counts from that much later', async () => {
  expect(await answeredAfter(20)).toBe(20)
  expect(await answeredAfter(20)).toBe(0)
  expect(await answeredAfter(90)).toBe(70)
})

test('a provider that is always slow delays nothing, and each provider has its own usual time', async () => {
  expect(await answeredAfter(300)).toBe(100)
  expect(await answeredAfter(300)).toBe(0)
  expect(await answeredAfter(2, ELSEWHERE)).toBe(2)
  expect(await answeredAfter(300)).toBe(0)
})

test('a single slow response hardly changes the usual response time', async () => {
  await answeredAfter(20)
  await answeredAfter(700)
  expect(await answeredAfter(80)).toBeGreaterThan(50)
})

test('a provider that becomes slower has a new usual response time after a while', async () => {
  await answeredAfter(10)
  for (let row = 0; row < 100; row++) await answeredAfter(200)
  expect(await answeredAfter(200)).toBeLessThan(1)
})

test('a response is waited for until 100 ms after the usual time, and no longer', async () => {
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

test('a row counts at once with a very slow provider, without a connection, or while busy', async () => {
  for (let row = 0; row < 2; row++) await answeredAfter(3_000)
  expect(leave().lateMs).toBe(0)
  expect(leave(null).lateMs).toBe(0)
  isBusy = true
  expect(leave(ELSEWHERE).lateMs).toBe(0)
  expect(clock.pending()).toBe(0)
})
