import { describe, expect, test } from 'vitest'
import { readSchedule } from '../../../src/core/messages/schedule.ts'

const NOW_MS = Date.UTC(2030, 0, 1)
const PLAN = { name: 'default', allowsScheduling: true }

describe('the time of a scheduled message', () => {
  test.each(['+01:00', '+0100', '+01'])('is read with its zone, as in %s', zone => {
    for (const time of ['09:00', '09:00:00', '09:00:00.000', '09:00:00.000000']) {
      expect(readSchedule(`2030-01-31T${time}${zone}`, PLAN, NOW_MS)).toBe(Date.UTC(2030, 0, 31, 8))
    }
  })

  test('is null if none is given, even if the plan does not allow scheduling', () => {
    expect(readSchedule(undefined, { ...PLAN, allowsScheduling: false }, NOW_MS)).toBeNull()
  })

  test.each([
    ['has no zone', '2030-01-31T09:00:00', /zone/],
    ['has half a zone', '2030-01-31T09:00:00+010', /zone/],
    ['has a zone that does not exist', '2030-01-31T09:00:00+2400', /zone/],
    ['is on a day that does not exist', '2030-02-30T09:00:00Z', /zone/],
    ['is at an hour that does not exist', '2030-02-28T24:00:00Z', /zone/],
    ['is now', '2030-01-01T00:00:00Z', /future/],
    ['is more than a year ahead', '2031-01-01T00:00:01Z', /one year/],
  ])('is refused if it %s', (_, text, reason) => {
    expect(() => readSchedule(text, PLAN, NOW_MS)).toThrow(reason)
  })

  test('in the past is refused as such before the plan is checked', () => {
    const plan = { ...PLAN, allowsScheduling: false }
    expect(() => readSchedule('2029-12-31T00:00:00Z', plan, NOW_MS)).toThrow(/future/)
  })

  test('is refused by a plan that does not allow it', () => {
    const plan = { ...PLAN, allowsScheduling: false }
    expect(() => readSchedule('2030-01-31T09:00:00Z', plan, NOW_MS)).toThrow(/does not allow/)
  })
})
