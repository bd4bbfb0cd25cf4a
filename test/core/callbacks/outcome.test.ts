import { describe, expect, test } from 'vitest'
import { isOverwhelmed, judge, type Reply } from '../../../src/core/callbacks/outcome.ts'
import { LONGEST_DELAYS_MS, retryDelayMs } from '../../../src/core/callbacks/schedule.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const chance = (fraction: number) => ({ bytes: () => Buffer.alloc(0), fraction: () => fraction })
const answered = (status: number): Reply => ({ kind: 'answered', status })

describe('an attempt', () => {
  test.each([200, 202, 204, 299])('with response status %i is the last and delivers', status => {
    expect(judge(answered(status), 4, NOW_MS, chance(0.5))).toEqual({
      status: 'delivered',
      dueAtMs: null,
      httpStatus: status,
      error: null,
    })
  })

  test.each([100, 199, 300, 301, 304, 400, 401, 404, 409, 429, 500, 503, 599])(
    'with response status %i is retried',
    status => {
      expect(judge(answered(status), 0, NOW_MS, chance(0.5))).toMatchObject({
        status: 'pending',
        httpStatus: status,
      })
    },
  )

  test('with response status 410 is the last and fails the delivery', () => {
    expect(judge(answered(410), 0, NOW_MS, chance(0.5))).toMatchObject({ status: 'failed', dueAtMs: null })
  })

  test('that can never be made is the last and fails the delivery', () => {
    expect(judge({ kind: 'void', detail: 'gone' }, 0, NOW_MS, chance(0.5))).toEqual({
      status: 'failed',
      dueAtMs: null,
      httpStatus: null,
      error: 'gone',
    })
  })

  test.each([
    [0, 5_000],
    [1, 300_000],
    [2, 1_800_000],
    [3, 7_200_000],
    [4, 18_000_000],
    [5, 36_000_000],
    [6, 50_400_000],
    [7, 72_000_000],
    [8, 86_400_000],
  ])('that fails after %i failures is retried in %i ms, give or take a tenth', (failed, delayMs) => {
    const reply: Reply = { kind: 'failed', detail: 'cut' }
    const waits = [0, 0.5, 1].map(
      fraction => judge(reply, failed, NOW_MS, chance(fraction)).dueAtMs! - NOW_MS,
    )
    expect(waits).toEqual([delayMs * 0.9, delayMs, delayMs * 1.1].map(Math.round))
  })

  test('that fails after nine failures is the last and fails the delivery', () => {
    expect(judge({ kind: 'failed', detail: 'cut' }, 9, NOW_MS, chance(0))).toEqual({
      status: 'failed',
      dueAtMs: null,
      httpStatus: null,
      error: 'cut',
    })
  })
})

test('the longest waits are those that chance makes no longer', () => {
  const most = LONGEST_DELAYS_MS.map((_, at) => retryDelayMs(at + 1, chance(1)))
  expect(LONGEST_DELAYS_MS).toEqual(most)
  expect(retryDelayMs(LONGEST_DELAYS_MS.length + 1, chance(1))).toBeNull()
})

test('a receiver is overwhelmed if it says so, or does not respond', () => {
  expect([429, 502, 503, 504].map(answered).map(isOverwhelmed)).toEqual([true, true, true, true])
  expect(isOverwhelmed({ kind: 'failed', detail: 'cut' })).toBe(true)
  expect([200, 400, 404, 410, 500, 501].map(answered).filter(isOverwhelmed)).toEqual([])
  expect(isOverwhelmed({ kind: 'void', detail: 'gone' })).toBe(false)
})
