import { expect, test } from 'vitest'
import { createPatience } from '../../../src/core/messages/patience.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

test('a wait ends after its time, and at most the shared timer’s quarter of a second later', async () => {
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

test('who left is not told, and who waits is told once', async () => {
  const clock = createFakeClock()
  const patience = createPatience(clock, 1_000)
  const told: string[] = []
  const gone = patience.enter(() => told.push('gone'))
  const stays = patience.enter(() => told.push('stays'))
  patience.leave(gone)
  await clock.advance(5_000)
  patience.leave(stays)
  await clock.advance(5_000)
  expect(told).toEqual(['stays'])
  expect([gone.hasTimedOut, stays.hasTimedOut]).toEqual([false, true])
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
