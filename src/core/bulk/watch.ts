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
   * The job as it is, and again at each change, until nothing of it changes any more or whoever
   * follows is `gone`; null where nothing was to tell for a while. Whoever reads slowly misses steps,
   * never the last one. Throws RATE_LIMITED when too many watch.
   */
  follow(job: Job, gone: AbortSignal): AsyncGenerator<Job | null>
  /** Some of an account's jobs have changed; all may have, for null. */
  changed(accountId: AccountId | null): void
  /** Ends all that follow, since the server goes. */
  close(): void
}

export type BulkWatchDeps = { db: Db; clock: Clock }

/** A job, and what was told of it last. */
type Watched = { job: Job; told: string }

/** Progress is read this often, for all who watch at once; what moves a job is heard at once. In ms. */
const LOOK_EVERY_MS = 1_000
const ENDED: ReadonlySet<BulkStatus> = new Set(['rejected', 'completed'])

export function createBulkWatch({ db, clock }: BulkWatchDeps): BulkWatch {
  const followers: Followers<Watched, Job> = createFollowers({
    clock,
    look,
    lookEveryMs: LOOK_EVERY_MS,
    accountOf: ({ job }) => job.accountId,
    queue: (_, next) => [next],
    isLast: isOver,
  })

  /** One query for all. */
  async function look(): Promise<void> {
    const watched = [...followers.all()]
    const jobs = await selectJobs(
      db,
      watched.map(({ subject }) => subject.job),
    )
    const byId = new Map(jobs.map(job => [job.id, job]))
    for (const { subject, tell } of watched) {
      const job = byId.get(subject.job.id)
      if (!job || digest(job) === subject.told) continue
      subject.told = digest(job)
      tell(job)
    }
  }

  return {
    follow(job, gone) {
      const follower = followers.enter({ job, told: digest(job) }, gone)
      if (!follower) {
        throw new Problem('RATE_LIMITED', 'Too many streams of bulk jobs are open.', { retryAfterSeconds: 5 })
      }
      follower.tell(job)
      return follower.events
    },
    changed(accountId) {
      for (const { subject } of followers.all()) {
        if (accountId === null || subject.job.accountId === accountId) return followers.lookNow()
      }
    },
    close: followers.close,
  }
}

/** Nothing of it changes any more. What was on its way when a job was cancelled still counts. */
function isOver(job: Job): boolean {
  return ENDED.has(job.status) || (job.status === 'cancelled' && countsOf(job).pending === 0)
}

function digest({ status, pauseReason, total, validated, sent, failed, cancelled }: Job): string {
  return [status, pauseReason, total, validated, sent, failed, cancelled].join()
}
