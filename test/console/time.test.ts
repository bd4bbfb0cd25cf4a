import { expect, it } from 'vitest'

/** By its address, since what it draws is no part of the tests' program. */
const TIME = new URL('../../console/src/parts/time.tsx', import.meta.url).href
const { formatRelative } = (await import(TIME)) as { formatRelative(iso: string, nowMs: number): string }

it('a time is told in the largest unit that it fills when it is rounded', () => {
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
  const ago = (seconds: number) => formatRelative(new Date(1e12 - seconds * 1_000).toISOString(), 1e12)
  expect([ago(59.4), ago(59.6), ago(3_590), ago(86_300)]).toEqual([
    relative.format(-59, 'second'),
    relative.format(-1, 'minute'),
    relative.format(-1, 'hour'),
    relative.format(-1, 'day'),
  ])
})
