import { useEffect, useRef, useState } from 'react'
import type { BulkJob } from '../../../../sdk/index.ts'
import { ENDED_STATUSES, type RateSample } from './pace.ts'

const EVERY_MS = 1_000
const MAX_SAMPLES = 120

/** The job's rate in each second since the page was opened. */
export function useRate(job: BulkJob): RateSample[] {
  const [samples, setSamples] = useState<RateSample[]>([])
  const latest = useRef(job)
  latest.current = job
  const isSending =
    !ENDED_STATUSES.has(job.status) && job.status !== 'validating' && job.status !== 'accepting'

  useEffect(() => {
    if (!isSending) return
    let before = { atMs: performance.now(), done: doneOf(latest.current) }
    const timer = setInterval(() => {
      const now = { atMs: performance.now(), done: doneOf(latest.current) }
      const perSecond = ((now.done - before.done) * 1_000) / (now.atMs - before.atMs)
      before = now
      setSamples(kept => [...kept, { atMs: now.atMs, perSecond }].slice(-MAX_SAMPLES))
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [isSending])

  return samples
}

function doneOf({ counts }: BulkJob): number {
  return counts.sent + counts.failed
}
