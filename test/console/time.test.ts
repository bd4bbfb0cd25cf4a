import { expect, it } from 'vitest'

/** Imported by its URL, since the module with its component is not part of the tests’ program. */
const TIME = new URL('../../console/src/parts/time.tsx', import.meta.url).href
const { formatClock, formatRelative } = (await import(TIME)) as {
  formatClock(iso: string, nowMs: number): string
  formatRelative(iso: string, nowMs: number): string
}

it('a relative time is shown in the largest unit that it reaches when rounded', () => {
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
  const ago = (seconds: number) => formatRelative(new Date(1e12 - seconds * 1_000).toISOString(), 1e12)
  expect([ago(59.4), ago(59.6), ago(3_590), ago(86_300)]).toEqual([
    relative.format(-59, 'second'),
    relative.format(-1, 'minute'),
    relative.format(-1, 'hour'),
    relative.format(-1, 'day'),
  ])
})

it('a time of day is shown with its date unless it is today', () => {
  const noon = new Date(2026, 2, 14, 12)
  const [morning, daysEarlier] = [new Date(2026, 2, 14, 8), new Date(2026, 2, 11, 8)]
  const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(daysEarlier)
  expect(formatClock(daysEarlier.toISOString(), noon.getTime())).toContain(date)
  expect(formatClock(morning.toISOString(), noon.getTime())).toBe(
    new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }).format(morning),
  )
})
