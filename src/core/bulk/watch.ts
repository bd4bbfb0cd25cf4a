import type { BulkStatus } from '../../contract/bulk.ts'
import { Problem } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import { createFollowers, type Followers } from '../../infra/followers.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { Job } from './job.ts'
import { selectJobs } from './store.ts'
import { countsOf } from './view.ts'

export type BulkWatch = {
  /**
   * Yields the job as it is, and again after each change, until it can no longer change, is deleted, or `gone`
   * is aborted; null if there was no change for a while. A slow reader skips states,
   * but never the last one. Throws RATE_LIMITED if too many streams are open.
   */
  follow(job: Job, gone: AbortSignal): AsyncGenerator<Job | null>
  /** Jobs of the account have changed; null: any jobs may have. */
  notifyChanged(accountId: AccountId | null): void
  /** Ends all streams, at shutdown. */
  close(): void
}

export type BulkWatchDeps = { db: Db; clock: Clock }

/** A job, and a digest of the state that was sent last. */
type Watched = { job: Job; sentDigest: string }

/** How often progress is read for all streams, in ms; changes of a job's state are notified at once. */
const POLL_EVERY_MS = 1_000
const ENDED: ReadonlySet<BulkStatus> = new Set(['rejected', 'completed'])

export function createBulkWatch({ db, clock }: BulkWatchDeps): BulkWatch {
  const followers: Followers<Watched, Job> = createFollowers({
    clock,
    poll,
    pollIntervalMs: POLL_EVERY_MS,
    accountOf: ({ job }) => job.accountId,
    queue: (_, next) => [next],
    isLast: isOver,
  })

  /** Reads all watched jobs with one query. */
  async function poll(): Promise<void> {
    const watched = [...followers.all()]
    const jobs = await selectJobs(
      db,
      watched.map(({ subject }) => subject.job),
    )
    const byId = new Map(jobs.map(job => [job.id, job]))
    for (const { subject, push, leave } of watched) {
      const job = byId.get(subject.job.id)
      // Its body was refused while it arrived.
      if (!job) leave()
      if (!job || digest(job) === subject.sentDigest) continue
      subject.sentDigest = digest(job)
      push(job)
    }
  }

  return {
    follow(job, gone) {
      const follower = followers.add({ job, sentDigest: digest(job) }, gone)
      if (!follower) {
        throw new Problem('RATE_LIMITED', 'Too many streams of bulk jobs are open.', { retryAfterSeconds: 5 })
      }
      follower.push(job)
      return follower.events
    },
    notifyChanged(accountId) {
      for (const { subject } of followers.all()) {
        if (accountId === null || subject.job.accountId === accountId) return followers.pollNow()
      }
    },
    close: followers.close,
  }
}

/** Whether the job can no longer change. After a cancel, the counts change until its begun messages are settled. */
function isOver(job: Job): boolean {
  return ENDED.has(job.status) || (job.status === 'cancelled' && countsOf(job).pending === 0)
}

function digest({ status, pauseReason, total, validated, sent, failed, cancelled }: Job): string {
  return [status, pauseReason, total, validated, sent, failed, cancelled].join()
}
