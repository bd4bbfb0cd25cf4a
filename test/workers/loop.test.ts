import { expect, test } from 'vitest'
import { HOUR_MS, SECOND_MS } from '../../src/lib/durations.ts'
import { startLoop } from '../../src/workers/loop.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** A loop of one round an hour, whose first round is over. */
async function hourly() {
  const clock = createFakeClock()
  let rounds = 0
  const loop = startLoop({
    clock,
    everyMs: HOUR_MS,
    async round() {
      rounds++
      return undefined
    },
    onError() {},
  })
  await clock.advance(0)
  return { clock, loop, rounds: () => rounds }
}

test.each([
  ['ahead', 2 * HOUR_MS],
  ['back', -2 * HOUR_MS],
])('a loop is woken at once also after the clock was set %s', async (_, byMs) => {
  const { clock, loop, rounds } = await hourly()
  clock.jump(byMs)
  loop.wake()
  await clock.advance(0)
  expect(rounds()).toBe(2)
})

test('a time to wake at counts from the clock as it is set when the loop is told', async () => {
  const { clock, loop, rounds } = await hourly()
  clock.jump(2 * HOUR_MS)
  loop.wakeAt(clock.now() + SECOND_MS)
  await clock.advance(SECOND_MS - 1)
  expect(rounds()).toBe(1)
  await clock.advance(1)
  expect(rounds()).toBe(2)
})

test('a clock that is set neither hastens the next round nor puts it off', async () => {
  for (const byMs of [2 * HOUR_MS, -2 * HOUR_MS]) {
    const { clock, rounds } = await hourly()
    clock.jump(byMs)
    await clock.advance(HOUR_MS - 1)
    expect(rounds()).toBe(1)
    await clock.advance(1)
    expect(rounds()).toBe(2)
  }
})

test('a time to wake at that is later than the next round does not put it off', async () => {
  const { clock, loop, rounds } = await hourly()
  loop.wakeAt(clock.now() + 2 * HOUR_MS)
  await clock.advance(HOUR_MS)
  expect(rounds()).toBe(2)
})

test('a stop waits for the round under way, and nothing begins another one', async () => {
  const clock = createFakeClock()
  const { promise, resolve } = Promise.withResolvers<'again'>()
  let rounds = 0
  const loop = startLoop({
    clock,
    everyMs: HOUR_MS,
    round() {
      rounds++
      return promise
    },
    onError() {},
  })
  await clock.advance(0)
  let hasStopped = false
  const stopped = loop.stop().then(() => {
    hasStopped = true
  })
  loop.wake()
  await clock.advance(2 * HOUR_MS)
  expect([rounds, hasStopped]).toEqual([1, false])
  resolve('again')
  await stopped
  loop.wake()
  loop.wakeAt(clock.now())
  await clock.advance(2 * HOUR_MS)
  expect(rounds).toBe(1)
})
