import { afterEach, expect, test, vi } from 'vitest'
import { readRetryAfter } from '../../src/lib/retry-after.ts'

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 0)

afterEach(() => vi.unstubAllEnvs())

test.each([
  ['0', 0],
  ['120', 120_000],
  ['1.5', 1_500],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
  ['Sun, 06 Nov 1994 08:49:37', 37_000],
  ['Sun, 06 Nov 1994 08:48:00 GMT', 0],
])('reads a wait from %s', (text, waitMs) => {
  // The result must not depend on the machine’s time zone.
  vi.stubEnv('TZ', 'Asia/Tokyo')
  expect(readRetryAfter(text, NOW_MS)).toBe(waitMs)
})

// JavaScript engines parse most of these as some date.
test.each([
  '',
  '-5',
  '+5',
  '5s',
  '1e3',
  'soon',
  '120, 60',
  '1994-11-06',
  'Sun',
  'Sun, 99 Nov 1994 08:49:37 GMT',
])('returns null for "%s"', text => {
  expect(readRetryAfter(text, NOW_MS)).toBeNull()
})
