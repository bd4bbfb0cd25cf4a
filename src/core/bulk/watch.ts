import type { BulkStatus } from '../../contract/bulk.ts'
import { Problem } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import type { Cancel, Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { Job } from './job.ts'
import { selectJobs } from './store.ts'

export type BulkWatch = {
  /**
   * The job as it is, and again at each change, until it has ended or whoever follows is
   * `gone`; null where nothing was to tell for a while. Whoever reads slowly misses steps,
   * never the last one. Throws RATE_LIMITED when too many watch.
   */
  follow(job: Job, gone: AbortSignal): AsyncGenerator<Job | null>
  /** Some of an account's jobs have changed; all may have, for null. */
  changed(accountId: AccountId | null): void
  /** Ends all that follow, since the server goes. */
  close(): void
}

export type BulkWatchDeps = { db: Db; clock: Clock }

/** Progress is read this often, for all who watch at once; what moves a job is heard at once. In ms. */
const LOOK_EVERY_MS = 1_000
/** A line on which nothing is said for longer is cut by some proxies. */
const BEAT_EVERY_MS = 15_000
const MOST_WATCHERS = 1_000
const MOST_OF_AN_ACCOUNT = 50

type Watcher = {
  job: Job
  seen: string
  /** What was not read yet: the latest, or a sign of life. */
  next: Job | 'beat' | null
  wake(): void
}

const ENDED: ReadonlySet<BulkStatus> = new Set(['rejected', 'completed', 'cancelled'])

export function createBulkWatch({ db, clock }: BulkWatchDeps): BulkWatch {
  const watchers = new Set<Watcher>()
  let cancelLook: Cancel = () => {}
  let looking = false
  let again = false
  let closed = false

  async function* follow(job: Job, gone: AbortSignal): AsyncGenerator<Job | null> {
    const watcher = enter(job)
    const leave = () => {
      watchers.delete(watcher)
      watcher.wake()
    }
    // At once: whoever reads may never ask for the next.
    gone.addEventListener('abort', leave)
    try {
      yield job
      while (!closed && !gone.aborted && !ENDED.has(watcher.job.status)) {
        const next = await nextOf(watcher)
        if (next === 'beat') yield null
        else if (next) {
          watcher.job = next
          yield next
        }
      }
    } finally {
      leave()
    }
  }

  function enter(job: Job): Watcher {
    const ofAccount = [...watchers].filter(watcher => watcher.job.accountId === job.accountId).length
    if (watchers.size >= MOST_WATCHERS || ofAccount >= MOST_OF_AN_ACCOUNT) {
      throw new Problem('RATE_LIMITED', 'Too many streams of bulk jobs are open.', { retryAfterSeconds: 5 })
    }
    const watcher: Watcher = { job, seen: digest(job), next: null, wake: () => {} }
    watchers.add(watcher)
    if (watchers.size === 1) lookLater()
    return watcher
  }

  async function nextOf(watcher: Watcher): Promise<Watcher['next']> {
    if (watcher.next === null) {
      const cancel = clock.after(BEAT_EVERY_MS, () => {
        watcher.next ??= 'beat'
        watcher.wake()
      })
      await new Promise<void>(resolve => {
        watcher.wake = resolve
        if (closed) resolve()
      })
      cancel()
    }
    const { next } = watcher
    watcher.next = null
    return next
  }

  function lookLater(): void {
    cancelLook()
    if (!closed && watchers.size > 0) cancelLook = clock.after(LOOK_EVERY_MS, () => void look())
  }

  /** One query for all; what changes while it runs is looked at once more. */
  async function look(): Promise<void> {
    again = true
    if (looking) return
    looking = true
    while (again && watchers.size > 0 && !closed) {
      again = false
      await selectJobs(
        db,
        [...watchers].map(watcher => watcher.job),
      ).then(tell, () => {})
    }
    looking = false
    lookLater()
  }

  function tell(jobs: readonly Job[]): void {
    const byId = new Map(jobs.map(job => [job.id, job]))
    for (const watcher of watchers) {
      const job = byId.get(watcher.job.id)
      if (!job || digest(job) === watcher.seen) continue
      watcher.seen = digest(job)
      watcher.next = job
      watcher.wake()
    }
  }

  return {
    follow,
    changed(accountId) {
      const concerned = [...watchers].some(({ job }) => accountId === null || job.accountId === accountId)
      if (concerned) void look()
    },
    close() {
      closed = true
      cancelLook()
      for (const watcher of watchers) watcher.wake()
    },
  }
}

function digest({ status, pauseReason, total, validated, sent, failed, cancelled }: Job): string {
  return [status, pauseReason, total, validated, sent, failed, cancelled].join()
}
