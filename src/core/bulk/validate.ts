import type { AccountSnapshot, Caller } from '../../contract/caller.ts'
import type { Channel } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Database } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AccountId } from '../../lib/ids.ts'
import { selectFunding } from '../billing/funding-store.ts'
import { assetIdsOf } from '../messages/assets.ts'
import type { Prepared } from '../messages/prepare.ts'
import type { Job, JobRef } from './job.ts'
import { type RowDeps, resolveRow, rowCaller } from './row.ts'
import { readRows, type StoredRow } from './row-store.ts'
import { selectJob } from './store.ts'
import { isPlain, recipientOf, sealRow } from './stored-row.ts'
import {
  type Cheapest,
  claimValidations,
  endValidation,
  type InvalidRow,
  sealRows,
  selectCheapest,
  storePage,
} from './validate-store.ts'

export type BulkValidator = {
  /** Validates some pages of each job that waits for it; true while there is more to do. */
  round(): Promise<boolean>
  /** Ends a round under way with the rows that are being checked: any node checks again what is not stored. */
  stop(): void
}

export type BulkValidatorDeps = Omit<RowDeps, 'seal'> & {
  db: Database
  seal: Pick<Seal, 'seal' | 'open'>
  /** Keeps an uploaded file from being deleted until the job has ended. */
  retainFile(id: string, job: JobRef): Promise<void>
  node(): number
  account(id: AccountId): AccountSnapshot | null | Promise<AccountSnapshot | null>
}

/** Small, so that a page is garbage again before it is promoted to the old generation. */
const PAGE_ROWS = 100
/** Checked concurrently, so that their queries are batched; other work runs in between. */
const ROWS_AT_ONCE = 50
/** Rows per stored progress; after a crash up to that many are checked again. */
const NOTED_ROWS = 1_000
/** Rows of one job before the next job's turn. A new job waits for the turns of a round, a second or two. */
const ROWS_IN_A_TURN = 2_000
/** A turn ends earlier after this long: with a provider that is slow to tell whom it reaches, its rows take a minute. */
const TURN_MS = 1_000
const JOBS_IN_A_ROUND = 8
/** Longer error messages are cut. */
const MAX_EXPLAINED_CHARACTERS = 1_000

/**
 * Validates the rows of jobs, page by page, by the rules of a single send. Progress and
 * invalid rows are stored in one statement, fenced by the job's node, so that no row is
 * counted twice.
 */
export function createBulkValidator(deps: BulkValidatorDeps): BulkValidator {
  const { db, clock } = deps
  let stopping = false

  async function round(): Promise<boolean> {
    const jobs = await claimValidations(db, deps.node(), JOBS_IN_A_ROUND)
    let more = false
    const failed: unknown[] = []
    for (const job of jobs) {
      if (stopping) break
      try {
        if (await validateSome(job)) more = true
      } catch (error) {
        // A job that fails does not keep the others from their turn.
        failed.push(error)
      }
    }
    if (failed.length > 0) throw failed[0]
    return more || jobs.length >= JOBS_IN_A_ROUND
  }

  /** Validates up to `ROWS_IN_A_TURN` rows, for `TURN_MS`; false if nothing of the job is left for this node. */
  async function validateSome(job: Job): Promise<boolean> {
    const account = await deps.account(job.accountId)
    if (!account) return false
    const caller = rowCaller(account, job.live, job.keyId)
    let cheapest = await selectCheapest(db, job)
    let at = job.validated
    let until = Math.min(job.total, at + ROWS_IN_A_TURN)
    const endsMs = clock.monotonic() + TURN_MS
    let unstored: { from: number; invalid: InvalidRow[] } = { from: at, invalid: [] }
    let storing: Promise<boolean> = Promise.resolve(true)
    let next = readAhead(job, at)
    while (at < until) {
      const rows = await next
      if (rows.length === 0) throw new Error(`rows of ${job.id} are missing from ${at} on`)
      if (at + rows.length < until) next = readAhead(job, at + rows.length)
      const checked = await checkPage(job, rows, caller, cheapest)
      if (!checked) {
        await storing
        return false
      }
      cheapest = checked.cheapest
      unstored.invalid.push(...checked.invalid)
      at += rows.length
      if (clock.monotonic() >= endsMs) until = at
      if (at < until && at - unstored.from < NOTED_ROWS) continue
      // Stored while the next rows are checked; one write after the other.
      if (!(await storing)) return false
      storing = handleRejectionLater(storePage(db, deps.node(), job, { ...unstored, to: at, cheapest }))
      unstored = { from: at, invalid: [] }
    }
    if (!(await storing)) return false
    if (at < job.total) return true
    await end(job, cheapest)
    return false
  }

  /** Reads a page while the page before it is checked. */
  function readAhead(job: Job, from: number): Promise<StoredRow[]> {
    return handleRejectionLater(readRows(db, job, from, PAGE_ROWS))
  }

  /** Null if it was stopped: with a provider that is slow to tell whether it reaches a recipient, a page takes seconds. */
  async function checkPage(job: Job, rows: readonly StoredRow[], caller: Caller, before: Cheapest) {
    const pageDeps = withWorldOfPage(job, deps)
    const invalid: InvalidRow[] = []
    const secret: StoredRow[] = []
    const cheapest: Record<string, number> = { ...before }
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const some = rows.slice(from, from + ROWS_AT_ONCE)
      const results = await Promise.all(some.map(row => resolveRow(row, job.id, caller, pageDeps)))
      if (stopping) return null
      results.forEach((result, at) => {
        const row = some[at]!
        if (result instanceof Problem) invalid.push(toInvalid(row.n, result))
        else updateCheapest(cheapest, result)
        if (isPlain(row.body) && mayCarryCode(row, result)) secret.push(row)
      })
      await new Promise(resolve => setImmediate(resolve))
    }
    if (secret.length > 0) await sealRows(db, job, secret.map(sealed))
    return { invalid, cheapest }

    function sealed({ n, body }: StoredRow): StoredRow {
      return { n, body: sealRow(body, recipientOf(body), job.id, deps.seal) }
    }
  }

  async function end(job: Job, cheapest: Cheapest): Promise<void> {
    await endValidation(db, deps.node(), job, await refusalOf(job, cheapest), clock.now())
  }

  async function refusalOf(job: Job, cheapest: Cheapest) {
    const { accountId, live } = job
    const invalid = (await selectJob(db, job))?.invalid ?? 0
    if (invalid > 0) {
      const rows = invalid === 1 ? '1 message is' : `${invalid} messages are`
      return { code: 'VALIDATION_FAILED' as const, message: `${rows} not valid; none was sent` }
    }
    if (live && !(await coversOne(accountId, cheapest))) {
      return {
        code: 'INSUFFICIENT_BALANCE' as const,
        message: 'neither the plan nor the wallet covers a single message',
      }
    }
    return null
  }

  async function coversOne(accountId: AccountId, cheapest: Cheapest): Promise<boolean> {
    for (const [channel, amount] of Object.entries(cheapest)) {
      if (await selectFunding(db, accountId, channel as Channel, amount, clock.now())) return true
    }
    return false
  }

  return {
    round,
    stop() {
      stopping = true
    },
  }
}

/**
 * Caches, for one page, the account's data, and the files and conversations that rows name, since rows
 * of a job mostly name the same ones. Files are kept from then on until the job has ended, which
 * may be longer than unused files are kept otherwise.
 */
function withWorldOfPage(job: Job, deps: BulkValidatorDeps): BulkValidatorDeps {
  const known = new Map<string, ReturnType<RowDeps['world']>>()
  const kept = new Map<string, Promise<void>>()

  async function withFiles(caller: Pick<Caller, 'account'>, body: SingleSendBody, ids: readonly string[]) {
    for (const id of ids) await keep(id)
    return deps.world(caller, body)
  }

  function keep(id: string): Promise<void> {
    const keeping = kept.get(id) ?? deps.retainFile(id, job)
    kept.set(id, keeping)
    return keeping
  }

  return {
    ...deps,
    world(caller, body) {
      const ids = body ? assetIdsOf(body) : []
      const named = cacheKeyOf(body, ids)
      const world =
        known.get(named) ?? (ids.length > 0 ? withFiles(caller, body!, ids) : deps.world(caller, body))
      known.set(named, world)
      return world
    },
  }
}

/** A cache key: bodies with the same files and conversation share their data. */
function cacheKeyOf(body: SingleSendBody | undefined, ids: readonly string[]): string {
  const context = body?.conversationContext
  if (!context) return ids.join(' ')
  return JSON.stringify([context.moduleType, context.accountId, context.chatId, ...ids])
}

/** Whether a row has a one-time code. An invalid row with a template may have one. */
function mayCarryCode({ body }: StoredRow, result: Prepared | Problem): boolean {
  if (!(result instanceof Problem)) return result.messageType === 'otp'
  return (JSON.parse(body) as SingleSendBody).template !== undefined
}

function toInvalid(n: number, problem: Problem): InvalidRow {
  return { n, code: problem.code, message: problem.message.slice(0, MAX_EXPLAINED_CHARACTERS) }
}

function updateCheapest(cheapest: Record<string, number>, { channel, amount }: Prepared): void {
  const known = cheapest[channel]
  if (known === undefined || amount < known) cheapest[channel] = amount
}

/** Marks a rejection as handled, since the promise is awaited later, or never. */
function handleRejectionLater<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  return work
}
