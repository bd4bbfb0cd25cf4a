import { describe, expect, test } from 'vitest'
import type { OpenLink } from '../../src/channels/links.ts'
import type { OutboxItem } from '../../src/core/outbox/dispatch-port.ts'
import type { AccountId } from '../../src/lib/ids.ts'
import { createLane, type Lane } from '../../src/workers/lane.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const HOUR_MS = 3_600_000
const account = 'acc_00000000000000000000000001' as AccountId
const item = {} as OutboxItem

function start() {
  const clock = createFakeClock()
  const link = { concurrency: 2, send: () => Promise.reject(), close: async () => {} }
  let woken = 0
  const lane: Lane = createLane({ link } as unknown as OpenLink, clock, () => {
    woken++
  })
  return { clock, lane, woken: () => woken }
}

describe.each([
  ['set back by an hour', -HOUR_MS],
  ['set on by an hour', HOUR_MS],
])('a rest when the clock is %s', (_, jumpMs) => {
  test('of the lane lasts as long as the provider said', async () => {
    const { clock, lane, woken } = start()
    lane.hold(item)
    lane.rest(5_000, null)
    expect(lane.next()).toBeNull()
    clock.jump(jumpMs)
    await clock.advance(4_900)
    expect(lane.next()).toBeNull()
    await clock.advance(200)
    expect(woken()).toBeGreaterThan(0)
    expect(lane.next()).toBe(item)
    expect(lane.stats()).toEqual({ busy: 1, held: 0, resting: false })
  })

  test('of an account too, and its end is told by the clock on the wall', async () => {
    const { clock, lane } = start()
    lane.rest(5_000, account)
    clock.jump(jumpMs)
    expect(lane.restsUntil(account)).toBe(clock.now() + 5_000)
    expect(lane.tryEnter(account)).toBe(false)
    await clock.advance(5_000)
    expect(lane.restsUntil(account)).toBe(0)
    expect(lane.tryEnter(account)).toBe(true)
  })
})
