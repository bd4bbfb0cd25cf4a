import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSlidingWindow } from '../../src/lib/sliding-window.ts'

const WINDOW_MS = 1_000

function createTime() {
  let nowMs = 0
  return {
    clock: { now: () => nowMs, monotonic: () => nowMs, after: () => () => {} },
    pass(ms: number) {
      nowMs += ms
    },
    now: () => nowMs,
  }
}

test('no interval of the window’s length contains more uses than the window has places', () => {
  const step = fc.record({ pass: fc.integer({ min: 0, max: 400 }), take: fc.integer({ min: 0, max: 5 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 6 }), (steps, places) => {
      const time = createTime()
      const window = createSlidingWindow(time.clock, places, WINDOW_MS)
      const uses: number[] = []
      for (const { pass, take } of steps) {
        time.pass(pass)
        for (let n = 0; n < take && window.freeInMs() === 0; n++) {
          window.reserve()
          window.recordUse()
          uses.push(time.now())
        }
      }
      for (const from of uses) {
        expect(uses.filter(at => at >= from && at < from + WINDOW_MS).length).toBeLessThanOrEqual(places)
      }
    }),
  )
})

test('a place counts from its use, not from its reservation', () => {
  const time = createTime()
  const window = createSlidingWindow(time.clock, 2, WINDOW_MS)
  window.reserve()
  window.reserve()
  expect(window.freeInMs()).toBe(Number.POSITIVE_INFINITY)
  time.pass(700)
  window.recordUse()
  expect(window.freeInMs()).toBe(WINDOW_MS)
  time.pass(100)
  window.release()
  expect(window.freeInMs()).toBe(0)
  window.reserve()
  time.pass(899)
  expect(window.freeInMs()).toBe(1)
  time.pass(1)
  expect(window.freeInMs()).toBe(0)
})

test('uses may be recorded late and out of order', () => {
  const time = createTime()
  const window = createSlidingWindow(time.clock, 2, WINDOW_MS)
  window.reserve()
  window.reserve()
  time.pass(500)
  window.recordUse(400)
  window.recordUse(100)
  expect(window.freeInMs()).toBe(600)
  time.pass(600)
  expect(window.freeInMs()).toBe(0)
  window.reserve()
  expect(window.freeInMs()).toBe(300)
})

test('freeInMs() with a tolerance waits for all places that become free shortly after one another', () => {
  const time = createTime()
  const window = createSlidingWindow(time.clock, 5, WINDOW_MS)
  for (const passed of [0, 20, 30, 200, 10]) {
    time.pass(passed)
    window.reserve()
    window.recordUse()
  }
  // Used at 0, 20, 50, 250 and 260.
  time.pass(140)
  expect(window.freeInMs()).toBe(600)
  expect(window.freeInMs(19)).toBe(600)
  expect(window.freeInMs(30)).toBe(650)
  time.pass(600)
  expect([window.freeInMs(), window.freeInMs(30)]).toEqual([0, 50])
  time.pass(50)
  expect([window.freeInMs(), window.freeInMs(30)]).toEqual([0, 0])
  for (let n = 0; n < 3; n++) window.reserve()
  expect([window.freeInMs(), window.freeInMs(30)]).toEqual([200, 210])
  window.reserve()
  window.reserve()
  expect(window.freeInMs(30)).toBe(Number.POSITIVE_INFINITY)
})

test('freeInMs() returns the wait for a free place, also after a resize', () => {
  const time = createTime()
  const window = createSlidingWindow(time.clock, 3, WINDOW_MS)
  for (let n = 0; n < 3; n++) {
    window.reserve()
    window.recordUse()
    time.pass(100)
  }
  expect(window.freeInMs()).toBe(700)
  window.resize(1)
  expect(window.freeInMs()).toBe(900)
  window.resize(4)
  expect(window.freeInMs()).toBe(0)
})

test('a window with hundreds of places counts every use that is still within it', () => {
  const time = createTime()
  const window = createSlidingWindow(time.clock, 300, WINDOW_MS)
  for (let n = 0; n < 300; n++) {
    window.reserve()
    window.recordUse()
    time.pass(1)
  }
  time.pass(899)
  // 200 uses are over, those of the last 100 ms are not.
  for (let n = 0; n < 200; n++) {
    expect(window.freeInMs()).toBe(0)
    window.reserve()
  }
  expect(window.freeInMs()).toBe(1)
})

test('a window is unused once no place is taken and the last use is over', () => {
  const time = createTime()
  const window = createSlidingWindow(time.clock, 2, WINDOW_MS)
  expect(window.isUnused()).toBe(true)
  window.reserve()
  expect(window.isUnused()).toBe(false)
  window.recordUse()
  time.pass(999)
  expect(window.isUnused()).toBe(false)
  time.pass(1)
  expect(window.isUnused()).toBe(true)
})
