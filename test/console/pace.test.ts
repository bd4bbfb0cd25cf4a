import { expect, it } from 'vitest'
import type { BulkJob } from '../../src/contract/bulk.ts'

/** By its address, since it is no part of the tests' program. */
const PACE = new URL('../../console/src/pages/bulk/pace.ts', import.meta.url).href
const { secondsLeft } = (await import(PACE)) as {
  secondsLeft(job: Partial<BulkJob>, samples: { atMs: number; perSecond: number }[]): number | null
}

it('how long a job still takes is told while it is seen to move alone', () => {
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
  // One row whose fate nobody knows may wait for hours.
  expect(seen(2, 0, 0, 0, 0, 0)).toBe(null)
})
