import { expect, test } from 'vitest'
import { createPatience } from '../../../src/core/messages/patience.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

test('a wait ends after its time, at most 250 ms late because of the shared timer', async () => {
  const clock = createFakeClock()
  const patience = createPatience(clock, 3_000)
  const ended: number[] = []
  for (const startMs of [0, 100, 249, 250, 600]) {
    await clock.advance(startMs - clock.monotonic())
    patience.enter(() => ended.push(clock.monotonic() - startMs))
  }
  await clock.advance(10_000)
  expect(ended).toHaveLength(5)
  for (const waitedMs of ended) {
    expect(waitedMs).toBeGreaterThanOrEqual(3_000)
    expect(waitedMs).toBeLessThanOrEqual(3_250)
  }
})

test('the end of a wait is called once, and not at all if the wait was left before', async () => {
  const clock = createFakeClock()
  const patience = createPatience(clock, 1_000)
  const called: string[] = []
  const left = patience.enter(() => called.push('gone'))
  const stays = patience.enter(() => called.push('stays'))
  patience.leave(left)
  await clock.advance(5_000)
  patience.leave(stays)
  await clock.advance(5_000)
  expect(called).toEqual(['stays'])
  expect([left.hasTimedOut, stays.hasTimedOut]).toEqual([false, true])
})

test('many waits share few timers', async () => {
  const clock = createFakeClock()
  const patience = createPatience(clock, 3_000)
  for (let n = 0; n < 1_000; n++) {
    patience.leave(patience.enter(() => {}))
    await clock.advance(1)
  }
  expect(clock.pending()).toBeLessThanOrEqual(5)
})
