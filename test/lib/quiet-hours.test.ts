import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatMinute, isQuiet, opensAt, parseMinute, type QuietHours } from '../../src/lib/quiet-hours.ts'
import { timeZonesOf } from '../../src/lib/time-zones.ts'

const NIGHT: QuietHours = { startMinute: 21 * 60, endMinute: 8 * 60 }
const MINUTE_MS = 60_000
const DAY_MIN = 1_440
const at = (iso: string) => Date.parse(iso)
const opens = (quiet: QuietHours, zones: readonly string[], iso: string) =>
  new Date(opensAt(quiet, zones, at(iso))).toISOString()

describe('quiet hours in one time zone', () => {
  test.each([
    // 22:30 in Berlin waits for 08:00 of the next day, 06:59 for 08:00 of the same day. 08:00 is open,
    // 21:00 is quiet.
    ['2027-01-12T21:30:00.000Z', '2027-01-13T07:00:00.000Z'],
    ['2027-01-12T05:59:30.500Z', '2027-01-12T07:00:00.000Z'],
    ['2027-01-12T07:00:00.000Z', '2027-01-12T07:00:00.000Z'],
    ['2027-01-12T19:59:59.999Z', '2027-01-12T19:59:59.999Z'],
    ['2027-01-12T20:00:00.000Z', '2027-01-13T07:00:00.000Z'],
    // The clocks go forward in the night of 28 March and back in that of 31 October.
    ['2027-03-27T22:00:00.000Z', '2027-03-28T06:00:00.000Z'],
    ['2027-10-30T21:00:00.000Z', '2027-10-31T07:00:00.000Z'],
  ])('end at the right moment in Berlin, from %s', (asked, opened) => {
    expect(opens(NIGHT, ['Europe/Berlin'], asked)).toBe(opened)
  })

  test('end at the clock change when it skips their end', () => {
    const quiet = { startMinute: 22 * 60, endMinute: 2 * 60 + 30 }
    expect(opens(quiet, ['Europe/Berlin'], '2027-03-28T00:30:00Z')).toBe('2027-03-28T01:00:00.000Z')
  })

  test('end at the first of two equal local times, and apply again in the repeated hour', () => {
    const quiet = { startMinute: 22 * 60, endMinute: 2 * 60 + 30 }
    expect(opens(quiet, ['Europe/Berlin'], '2027-10-30T23:30:00Z')).toBe('2027-10-31T00:30:00.000Z')
    expect(opens(quiet, ['Europe/Berlin'], '2027-10-31T01:10:00Z')).toBe('2027-10-31T01:30:00.000Z')
  })

  test('apply by day, and in zones with half-hour and quarter-hour offsets', () => {
    const noon = { startMinute: 12 * 60, endMinute: 13 * 60 }
    expect(opens(noon, ['Asia/Kolkata'], '2027-05-01T06:45:00Z')).toBe('2027-05-01T07:30:00.000Z')
    expect(opens(noon, ['Asia/Kathmandu'], '2027-05-01T06:45:00Z')).toBe('2027-05-01T07:15:00.000Z')
  })
})

describe('quiet hours in several time zones', () => {
  test('end when all zones are open', () => {
    // 08:00 in Honolulu is 18:00 UTC, and New York is open until 21:00, which is 02:00 UTC.
    expect(opens(NIGHT, timeZonesOf('US'), '2027-01-12T14:00:00Z')).toBe('2027-01-12T18:00:00.000Z')
    expect(opens(NIGHT, timeZonesOf('US'), '2027-01-12T18:30:00Z')).toBe('2027-01-12T18:30:00.000Z')
    expect(opens(NIGHT, timeZonesOf('US'), '2027-01-13T02:30:00Z')).toBe('2027-01-13T18:00:00.000Z')
  })

  test('end when most zones are open, if all are never open together', () => {
    const zones = ['Europe/London', 'Europe/Lisbon', 'Pacific/Auckland']
    const office = { startMinute: 17 * 60, endMinute: 9 * 60 }
    expect(opens(office, zones, '2027-01-12T03:00:00Z')).toBe('2027-01-12T09:00:00.000Z')
    // Two of three are open, which is the most there can be.
    expect(opens(office, zones, '2027-01-12T10:17:00Z')).toBe('2027-01-12T10:17:00.000Z')
  })
})

test('timeZonesOf() returns the time zones of a country, and none for an unknown one', () => {
  expect(timeZonesOf('JP')).toEqual(['Asia/Tokyo'])
  expect(timeZonesOf('XK')).toEqual(['Europe/Belgrade'])
  expect(timeZonesOf('RU').length).toBeGreaterThan(10)
  expect(timeZonesOf('001')).toEqual([])
  expect(timeZonesOf('ZZ')).toEqual([])
})

test('opensAt() finds the same moment as a search minute by minute, for any hours, zones and days', () => {
  const zones = fc.subarray(
    [
      'Europe/Berlin',
      'America/New_York',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Africa/Casablanca',
      'Asia/Tokyo',
    ],
    { minLength: 1, maxLength: 3 },
  )
  const minute = fc.integer({ min: 0, max: DAY_MIN - 1 })
  const quiet = fc.tuple(minute, minute).filter(([start, end]) => start !== end)
  // Days around the clock changes of some of these zones.
  const turns = [
    '2027-03-14',
    '2027-03-28',
    '2027-04-04',
    '2027-10-03',
    '2027-10-31',
    '2027-11-07',
    '2027-02-07',
  ].map(day => at(`${day}T00:00:00Z`))
  const moment = fc
    .tuple(
      fc.constantFrom(...turns),
      fc.integer({ min: -1_500, max: 1_500 }),
      fc.integer({ min: 0, max: 59_999 }),
    )
    .map(([turn, minutes, ms]) => turn + minutes * MINUTE_MS + ms)
  fc.assert(
    fc.property(quiet, zones, moment, ([startMinute, endMinute], among, fromMs) => {
      const window = { startMinute, endMinute }
      expect(opensAt(window, among, fromMs)).toBe(walk(window, among, fromMs))
    }),
    { numRuns: 60 },
  )
}, 30_000)

/** The same by brute force: every whole minute of two days, by the formatted local time. */
function walk(quiet: QuietHours, zones: readonly string[], fromMs: number): number {
  let best = { atMs: fromMs, open: openIn(quiet, zones, fromMs) }
  const first = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS
  for (
    let now = first;
    now <= fromMs + 2 * DAY_MIN * MINUTE_MS && best.open < zones.length;
    now += MINUTE_MS
  ) {
    const open = openIn(quiet, zones, now)
    if (open > best.open) best = { atMs: now, open }
  }
  return best.atMs
}

const shown = new Map<string, Intl.DateTimeFormat>()

function openIn({ startMinute, endMinute }: QuietHours, zones: readonly string[], atMs: number): number {
  return zones.filter(zone => {
    const format =
      shown.get(zone) ??
      new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short', hourCycle: 'h23' })
    shown.set(zone, format)
    const minute = parseMinute(format.format(atMs))!
    const sinceStart = (minute - startMinute + DAY_MIN) % DAY_MIN
    return sinceStart >= (endMinute - startMinute + DAY_MIN) % DAY_MIN
  }).length
}

test('times of day are parsed strictly and formatted back', () => {
  for (const bad of ['', '24:00', '9:00', '09:60', '09:00:00', ' 09:00', '09.00', '-1:00']) {
    expect(parseMinute(bad), bad).toBeNull()
  }
  for (const good of ['00:00', '08:05', '23:59']) expect(formatMinute(parseMinute(good)!)).toBe(good)
  expect(isQuiet(NIGHT, 'UTC', at('2027-01-01T23:00:00Z'))).toBe(true)
})
