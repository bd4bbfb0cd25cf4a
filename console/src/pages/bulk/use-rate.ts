import { useEffect, useRef, useState } from 'react'
import type { BulkJob } from '../../../../sdk/index.ts'
import { ENDED, type RateSample } from './pace.ts'

const EVERY_MS = 1_000
const KEPT = 120

/** The job's rate in each second since the page was opened. */
export function useRate(job: BulkJob): RateSample[] {
  const [samples, setSamples] = useState<RateSample[]>([])
  const latest = useRef(job)
  latest.current = job
  const moves = !ENDED.has(job.status) && job.status !== 'validating' && job.status !== 'accepting'

  useEffect(() => {
    if (!moves) return
    let before = { atMs: performance.now(), done: doneOf(latest.current) }
    const timer = setInterval(() => {
      const now = { atMs: performance.now(), done: doneOf(latest.current) }
      const perSecond = ((now.done - before.done) * 1_000) / (now.atMs - before.atMs)
      before = now
      setSamples(kept => [...kept, { atMs: now.atMs, perSecond }].slice(-KEPT))
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [moves])

  return samples
}

function doneOf({ counts }: BulkJob): number {
  return counts.sent + counts.failed
}
