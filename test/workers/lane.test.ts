import { describe, expect, test } from 'vitest'
import type { OpenLink } from '../../src/channels/links.ts'
import type { OutboxItem } from '../../src/core/outbox/dispatch-port.ts'
import type { AccountId } from '../../src/lib/ids.ts'
import { createLane, type Lane } from '../../src/workers/lane.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const HOUR_MS = 3_600_000
const account = 'acc_00000000000000000000000001' as AccountId
const item = {} as OutboxItem

function start(concurrency = 2) {
  const clock = createFakeClock()
  const link = { concurrency, send: () => Promise.reject(), close: async () => {} }
  let woken = 0
  const lane: Lane = createLane({ link } as unknown as OpenLink, clock, () => {
    woken++
  })
  return { clock, lane, woken: () => woken }
}

describe.each([
  ['set back by an hour', -HOUR_MS],
  ['set forward by an hour', HOUR_MS],
])('a pause when the clock is %s', (_, jumpMs) => {
  test('of the lane lasts as long as the provider asked for', async () => {
    const { clock, lane, woken } = start()
    lane.hold(item)
    lane.pause(5_000, null)
    expect(lane.next()).toBeNull()
    clock.jump(jumpMs)
    await clock.advance(4_900)
    expect(lane.next()).toBeNull()
    await clock.advance(200)
    expect(woken()).toBeGreaterThan(0)
    expect(lane.next()).toBe(item)
    expect(lane.stats()).toEqual({ busy: 1, held: 0, resting: false })
  })

  test('of an account lasts as long as asked for, and its end is reported in wall clock time', async () => {
    const { clock, lane } = start()
    lane.pause(5_000, account)
    clock.jump(jumpMs)
    expect(lane.pausedUntil(account)).toBe(clock.now() + 5_000)
    expect(lane.tryEnter(account)).toBe(false)
    await clock.advance(5_000)
    expect(lane.pausedUntil(account)).toBe(0)
    expect(lane.tryEnter(account)).toBe(true)
  })
})

test.each([
  ['a lane', null],
  ['an account', account],
])('a shorter pause does not end a longer one of %s', async (_, resting) => {
  const { clock, lane } = start()
  lane.pause(60_000, resting)
  lane.pause(1_000, resting)
  await clock.advance(59_000)
  expect(lane.tryEnter(account)).toBe(false)
  await clock.advance(1_000)
  expect(lane.tryEnter(account)).toBe(true)
})

test('a lane with few slots admits as many messages as it has slots', () => {
  const { lane } = start(2)
  expect([1, 2, 3].map(() => lane.tryEnter(account))).toEqual([true, true, false])
  expect(lane.arrive(item)).toBe(true)
  expect(lane.tryEnter(account)).toBe(false)
  lane.cancelEntry()
  expect(lane.tryEnter(account)).toBe(true)
  expect(lane.arrive(item)).toBe(true)
  lane.leave()
  expect(lane.tryEnter(account)).toBe(true)
})

test('a lane with many slots admits more messages than slots, and those without a slot wait', () => {
  const { lane } = start(50)
  const items = Array.from({ length: 200 }, () => ({}) as OutboxItem)
  expect(items.map(() => lane.tryEnter(account)).every(Boolean)).toBe(true)
  expect(lane.tryEnter(account)).toBe(false)
  expect(lane.freeSlots()).toBe(0)
  expect(items.slice(0, 51).map(each => lane.arrive(each))).toEqual([...Array(50).fill(true), false])
  expect(lane.nextArrived()).toBeNull()
  // While one waits, none is admitted, and no held message goes before it.
  for (let n = 0; n < 100; n++) lane.cancelEntry()
  lane.hold(item)
  expect([lane.tryEnter(account), lane.freeSlots()]).toEqual([false, 0])
  expect(lane.next()).toBeNull()
  expect(lane.arrive(item)).toBe(false)
  lane.leave()
  expect(lane.next()).toBeNull()
  expect(lane.nextArrived()).toBe(items[50])
  expect([lane.drainArrived(), lane.drainArrived()]).toEqual([[item], []])
  lane.leave()
  expect(lane.next()).toBe(item)
  expect(lane.freeSlots()).toBe(200 - 50 - 48)
  expect(lane.stats()).toMatchObject({ busy: 98, held: 0 })
})
