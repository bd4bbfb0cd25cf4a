import { expect, it } from 'vitest'
import { labelOf, toPoints } from '../../console/src/pages/overview/points.ts'
import type { MessageStats } from '../../sdk/index.ts'

const NOTHING = { sent: 0, delivered: 0, undelivered: 0, failed: 0, unknown: 0, cancelled: 0, cost: 0 }

function stats(
  from: string,
  to: string,
  interval: 'hour' | 'day',
  rows: (Partial<typeof NOTHING> & { at: string })[] = [],
): MessageStats {
  return {
    from,
    to,
    interval,
    mode: 'live',
    currency: 'USD',
    total: NOTHING,
    now: { waiting: 0, waitingMore: false, unknown: 0, unknownMore: false },
    rows: rows.map(row => ({ ...NOTHING, channel: null, ...row })),
  }
}

it('a chart has a point for every step of its period, with the sums of the figures', () => {
  const points = toPoints(
    stats('2026-03-01T00:00:00.000Z', '2026-03-01T04:00:00.000Z', 'hour', [
      { at: '2026-03-01T01:00:00.000Z', sent: 10, failed: 3 },
      // The receipts arrive an hour after the messages that they belong to.
      { at: '2026-03-01T02:00:00.000Z', delivered: 9, undelivered: 1, unknown: 2 },
    ]),
  )
  expect(points).toEqual([
    { at: '2026-03-01T00:00:00.000Z', Sent: 0, Delivered: 0, Failed: 0, Unknown: 0 },
    { at: '2026-03-01T01:00:00.000Z', Sent: 10, Delivered: 0, Failed: 3, Unknown: 0 },
    { at: '2026-03-01T02:00:00.000Z', Sent: 0, Delivered: 9, Failed: 1, Unknown: 2 },
    { at: '2026-03-01T03:00:00.000Z', Sent: 0, Delivered: 0, Failed: 0, Unknown: 0 },
  ])
  expect(toPoints(stats('2026-03-01T00:00:00.000Z', '2026-03-01T01:00:00.000Z', 'hour'))).toHaveLength(1)
  expect(toPoints(stats('2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', 'hour'))).toEqual([])
})

it('the night when clocks go back has one more hour, and no point twice', () => {
  const night = stats('2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 'hour')
  const points = toPoints(night)
  expect(points).toHaveLength(25)
  expect(new Set(points.map(({ at }) => at)).size).toBe(25)
  const label = labelOf(night, 'en-GB', 'Europe/Berlin')
  expect(points.slice(2, 5).map(({ at }) => label(at))).toEqual(['02:00', '02:00', '03:00'])
})

it('days are labelled in UTC, whatever the local time zone', () => {
  const days = stats('2026-03-01T00:00:00.000Z', '2026-03-03T00:00:00.000Z', 'day')
  const label = labelOf(days, 'en-GB', 'America/Los_Angeles')
  expect(toPoints(days).map(({ at }) => label(at))).toEqual(['1 Mar', '2 Mar'])
})
