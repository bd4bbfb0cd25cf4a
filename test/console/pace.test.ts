import { expect, it } from 'vitest'
import type { BulkJob } from '../../src/contract/bulk.ts'

/** Imported by its URL, since it is not part of the tests’ program. */
const PACE = new URL('../../console/src/pages/bulk/pace.ts', import.meta.url).href
const { secondsLeft } = (await import(PACE)) as {
  secondsLeft(job: Partial<BulkJob>, samples: { atMs: number; perSecond: number }[]): number | null
}

it('the remaining time of a job is shown only while its messages are being sent', () => {
  const job: Partial<BulkJob> = {
    status: 'running',
    messagesPerSecond: 2,
    counts: { pending: 7, sent: 3, failed: 0, cancelled: 0 },
  }
  const seen = (...rates: number[]) =>
    secondsLeft(
      job,
      rates.map((perSecond, at) => ({ atMs: at * 1_000, perSecond })),
    )
  expect([seen(), seen(2), seen(2, 0, 0, 0, 0)]).toEqual([null, 4, 4])
  // A single row with an unknown outcome may wait for hours.
  expect(seen(2, 0, 0, 0, 0, 0)).toBe(null)
})
