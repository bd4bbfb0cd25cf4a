import type { Caller } from '../../contract/caller.ts'
import { type ErrorCode, Problem } from '../../contract/errors.ts'
import type { Database } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import { canonicalize } from '../../lib/canonical-json.ts'
import { type Clock, pause } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import {
  type BodyReader,
  type BulkPart,
  type BulkPiece,
  createBodyReader,
  type Flaws,
  type StorableMessage,
} from './body-reader.ts'
import { createIdentity } from './identity.ts'
import { createIntakeLimiter } from './intake-limiter.ts'
import { findAccepting, findByKey, finishIntake, rejectAbandoned } from './intake-store.ts'
import type { Job, JobId, JobRef } from './job.ts'
import { createRowWriter, intakeInterrupted } from './row-writer.ts'

/** The body was cut: the sender has gone, or the body is not JSON from some point on. */
export class IntakeCut extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.message)
    this.name = 'IntakeCut'
    this.problem = problem
  }
}

export type BulkRequest = {
  caller: Caller
  key: string
  /** The body as it arrives; throws a Problem or an IntakeCut. */
  pieces: AsyncIterable<BulkPiece>
}

export type BulkIntake = {
  /** Stores a job. A repeated request gets the same job (`replayed`). Throws IDEMPOTENCY_CONFLICT, or another Problem. */
  receive(request: BulkRequest): Promise<{ job: Job; replayed: boolean }>
  /** Rejects jobs whose intake ended half-way because a node died or failed; called by a chore. */
  sweep(): Promise<void>
}

export type BulkIntakeDeps = {
  db: Database
  clock: Clock
  ids: Ids
  seal: Pick<Seal, 'seal' | 'hashSecret'>
  node(): number
}

/** How long a request waits for an earlier one with its key that is in progress, and how often it looks; in ms. */
const WAIT_FOR_OTHER_MS = 10_000
const POLL_EVERY_MS = 50

/**
 * Takes bulk jobs in. Rows are stored while they arrive, for a job in state
 * `accepting`. However long the body, memory holds two pieces: one that is being
 * filled and one that is being written.
 */
export function createBulkIntake(deps: BulkIntakeDeps): BulkIntake {
  const { db, clock } = deps
  /** The jobs that this node is taking in now. */
  const runningJobs = new Set<JobId>()
  const limiter = createIntakeLimiter(clock)

  async function receive(request: BulkRequest): Promise<{ job: Job; replayed: boolean }> {
    const { account } = request.caller
    const release = await limiter.acquire(account.id)
    try {
      const known = await findByKey(db, account.id, request.key)
      return known ? await compareBody(request) : await storeBody(request)
    } finally {
      release()
    }
  }

  // --- a key that is new ------------------------------------------------------

  async function storeBody(request: BulkRequest): Promise<{ job: Job; replayed: boolean }> {
    const body = createBodyReader()
    const identity = createIdentity(deps.seal)
    const { caller, key } = request
    const job: JobRef = { accountId: caller.account.id, id: deps.ids.next('job') }
    const fields = { live: caller.mode === 'live', keyId: caller.keyId, key }
    const rows = createRowWriter(job, fields, body, { ...deps, onInsert: () => void runningJobs.add(job.id) })
    try {
      for await (const { parts, bytes } of request.pieces) {
        for (const part of parts) {
          const messages = body.readPart(part)
          if (messages.length === 0) continue
          const flaws = flawsOf(part)
          const texts = identityTexts(messages, flaws)
          identity.add(texts)
          rows.add(messages, texts, flaws)
        }
        body.endPiece(bytes)
        if (rows.isFull()) await rows.writePiece()
      }
      body.end()
      await rows.flush()
      if (!rows.isKeyTaken()) {
        const finished = await finishIntake(db, job, {
          total: body.total,
          name: body.name,
          perSecond: body.perSecond!,
          bodyHash: identity.digest(body.name, body.perSecond!),
        })
        if (!finished) throw intakeInterrupted()
        return { job: finished, replayed: false }
      }
    } catch (error) {
      if (error instanceof Problem || body.isRefused()) await rows.drop()
      // The sender, who got no answer, finds the job rejected, also if it was cut before it was inserted.
      else await rows.reject(reasonOf(error), isCutMidway(error, body))
      throw error instanceof IntakeCut ? error.problem : error
    } finally {
      runningJobs.delete(job.id)
    }
    // Another request has taken the key meanwhile; this body has been read to its end.
    return answerFor(request, identity.digest(body.name, body.perSecond!))
  }

  // --- a key that was used before -----------------------------------------------

  /** Reads the body only to compare it with the job that has its key; stores nothing. */
  async function compareBody(request: BulkRequest): Promise<{ job: Job; replayed: boolean }> {
    const body = createBodyReader()
    const identity = createIdentity(deps.seal)
    try {
      for await (const { parts, bytes } of request.pieces) {
        for (const part of parts) {
          const texts = identityTexts(body.readPart(part), flawsOf(part))
          if (texts.length > 0) identity.add(texts)
        }
        body.endPiece(bytes)
      }
      body.end()
    } catch (error) {
      const refusal = error instanceof IntakeCut ? error.problem : error
      if (!isOfBody(refusal)) throw refusal
      return answerFor(request, refusal)
    }
    return answerFor(request, identity.digest(body.name, body.perSecond!))
  }

  /** `result` is the body's hash, or its Problem if it is refused, which then differs from every stored job. */
  async function answerFor(
    request: BulkRequest,
    result: Buffer | Problem,
  ): Promise<{ job: Job; replayed: boolean }> {
    const job = await waitForOther(request)
    // The other request was refused, too, so the key is free.
    if (!job && result instanceof Problem) throw result
    if (!job?.bodyHash) {
      throw new Problem('IDEMPOTENCY_CONFLICT', 'A request with this idempotency key is still in progress.', {
        retryAfterSeconds: 1,
      })
    }
    if (result instanceof Problem || !job.bodyHash.equals(result)) throw new Problem('IDEMPOTENCY_CONFLICT')
    return { job, replayed: true }
  }

  async function waitForOther({ caller, key }: BulkRequest): Promise<Job | null> {
    const startedMs = clock.monotonic()
    for (;;) {
      const job = await findByKey(db, caller.account.id, key)
      const waits = job?.status === 'accepting' && clock.monotonic() - startedMs < WAIT_FOR_OTHER_MS
      if (!waits) return job
      await pause(clock, POLL_EVERY_MS)
    }
  }

  /** Reads the database before `runningJobs`: a job is there before it is inserted, so no running one is rejected. */
  async function sweep(): Promise<void> {
    const accepting = await findAccepting(db, deps.node())
    const orphaned = accepting.filter(({ id, isOwn }) => !(isOwn && runningJobs.has(id))).map(({ id }) => id)
    if (orphaned.length > 0) await rejectAbandoned(db, orphaned, clock.now())
  }

  return { receive, sweep }
}

/** Throws SUBSCRIPTION_INACTIVE; called before the body is read. */
export function requireSubscription({ account }: Caller): void {
  if (account.plan.status !== 'active') throw new Problem('SUBSCRIPTION_INACTIVE')
}

function flawsOf(part: BulkPart): Flaws | undefined {
  return part.kind === 'rows' ? part.flaws : undefined
}

/** In canonical JSON. One with a flaw is an array: without, it may be the same as in a body in which that is mended. */
function identityTexts(messages: readonly StorableMessage[], flaws: Flaws | undefined): string[] {
  if (!flaws) return messages.map(canonicalize)
  return messages.map((message, at) => {
    const flaw = flaws.get(at)
    return canonicalize(flaw ? [message, flaw.path] : message)
  })
}

/** Whether the refusal is about the content of the body. */
function isOfBody(refusal: unknown): refusal is Problem {
  return refusal instanceof Problem && BODY_FAULTS.has(refusal.code)
}

const BODY_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'INVALID_REQUEST_BODY',
  'MESSAGES_PER_SECOND_INVALID',
  'MESSAGES_REQUIRED',
  'INVALID_MESSAGE',
])

function isCutMidway(error: unknown, body: BodyReader): boolean {
  return error instanceof IntakeCut && error.problem.code !== 'INVALID_REQUEST_BODY' && body.total > 0
}

function reasonOf(error: unknown): string {
  if (!(error instanceof IntakeCut)) return 'the rows could not be stored'
  return error.problem.code === 'INVALID_REQUEST_BODY'
    ? 'the body is not valid JSON'
    : 'the body broke off before its end'
}
