import type { BulkJob, BulkQuery, BulkRow, BulkRowQuery } from '../../contract/bulk.ts'
import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readCursor, readIdCursor, writeCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, isId, type MessageId } from '../../lib/ids.ts'
import { requireLiveAccess } from '../accounts/rights.ts'
import type { Job, JobId, JobRef } from './job.ts'
import { listRows, type RowOutcome } from './row-store.ts'
import {
  cancelByUser,
  listHalfCancelled,
  listJobs,
  listOpenMessages,
  pauseByUser,
  resumeByUser,
  selectJob,
} from './store.ts'
import { viewJob, viewRow } from './view.ts'

type Asker = Pick<Caller, 'account'>
type Changer = Pick<Caller, 'account' | 'mode' | 'keyPrefix'>

/** The jobs of an account. Throws JOB_NOT_FOUND for jobs of others. */
export type BulkJobs = {
  read(caller: Asker, id: string): Promise<Job>
  list(caller: Asker, query: BulkQuery): Promise<Page<BulkJob>>
  rows(caller: Asker, id: string, query: BulkRowQuery): Promise<Page<BulkRow>>
  /** JOB_STATE_CONFLICT for a job that has ended, or an accepting one to cancel. FORBIDDEN for a live job with a test key. */
  pause(caller: Changer, id: string): Promise<Job>
  resume(caller: Changer, id: string): Promise<Job>
  cancel(caller: Changer, id: string): Promise<Job>
  /** Withdraws the messages of cancelled jobs whose cancel was interrupted; called by a chore. */
  finishCancels(): Promise<void>
}

export type BulkJobsDeps = {
  db: Database
  clock: Clock
  /** Withdraws messages that are not being submitted yet. */
  withdraw(messages: readonly { accountId: AccountId; id: MessageId }[]): Promise<void>
}

/** Messages that are withdrawn in one step. */
const WITHDRAWN_AT_ONCE = 500
const FINISHED_AT_ONCE = 100

export function createBulkJobs({ db, clock, withdraw }: BulkJobsDeps): BulkJobs {
  /** Jobs that this node is cancelling. */
  const cancels = new Map<JobId, Promise<Job | null>>()

  async function read({ account }: Asker, id: string): Promise<Job> {
    const job = isId('job', id) ? await selectJob(db, { accountId: account.id, id }) : null
    if (!job) throw new Problem('JOB_NOT_FOUND')
    return job
  }

  async function change(
    caller: Changer,
    id: string,
    how: (ref: JobRef) => Promise<Job | null>,
    verb: string,
  ): Promise<Job> {
    const before = await read(caller, id)
    requireLiveAccess(caller, before)
    const job = await how(before)
    if (job) return job
    const { status } = await read(caller, id)
    throw new Problem('JOB_STATE_CONFLICT', `A job that is ${status} cannot be ${verb}.`)
  }

  /**
   * One at a time for each job: each holds a connection while it waits for the lane, so that many at once would take
   * all of them. The others wait without one, and find the job cancelled.
   */
  async function cancelInTurn(ref: JobRef): Promise<Job | null> {
    const other = cancels.get(ref.id)
    if (other) {
      await other
      return null
    }
    const cancelling = db.transaction(tx => cancelByUser(tx, ref, clock.now()))
    cancels.set(ref.id, cancelling)
    try {
      return await cancelling
    } finally {
      cancels.delete(ref.id)
    }
  }

  /** Withdraws accepted messages of the job that still wait for their submit; begun attempts go on. */
  async function withdrawOpen(job: JobRef): Promise<void> {
    for (let after: MessageId | null = null; ; ) {
      const open = await listOpenMessages(db, job, after, WITHDRAWN_AT_ONCE)
      await withdraw(open.map(id => ({ accountId: job.accountId, id })))
      if (open.length < WITHDRAWN_AT_ONCE) return
      after = open.at(-1)!
    }
  }

  return {
    read,

    async list({ account }, query) {
      const { limit } = query
      const before = readIdCursor('job', query.cursor)
      const filter = query.status === undefined ? {} : { status: query.status }
      const jobs = await listJobs(db, account.id, filter, before, limit + 1)
      return pageOf(jobs, limit, viewJob, last => writeCursor(last.id))
    },

    async rows(caller, id, query) {
      const job = await read(caller, id)
      // Its rows are being deleted, and are not shown until then.
      if (job.errorCode === 'INTAKE_INCOMPLETE') return { success: true, data: [], nextCursor: null }
      const { limit } = query
      const after = query.cursor === undefined ? -1 : readRowCursor(query.cursor)
      const ended = job.status === 'cancelled'
      const { rows, isCut } = await listRows(db, job, query.status, ended, after, limit + 1)
      return pageOf<RowOutcome, BulkRow>(
        rows,
        limit,
        row => viewRow(row, ended),
        cursorAfter,
        isCut ? cursorAfter(rows.at(-1)!) : null,
      )
    },

    pause: (caller, id) => change(caller, id, ref => pauseByUser(db, ref), 'paused'),
    resume: (caller, id) => change(caller, id, ref => resumeByUser(db, ref), 'resumed'),

    async cancel(caller, id) {
      const job = await change(caller, id, cancelInTurn, 'cancelled')
      await withdrawOpen(job)
      return job
    },

    async finishCancels() {
      for (const job of await listHalfCancelled(db, FINISHED_AT_ONCE)) await withdrawOpen(job)
    },
  }
}

function cursorAfter({ n }: RowOutcome): string {
  return writeCursor(String(n))
}

function readRowCursor(cursor: string): number {
  return Number(readCursor(cursor, ([n]) => n !== undefined && /^\d{1,9}$/.test(n))[0])
}
