import type { Caller } from '../../contract/caller.ts'
import { type ErrorCode, Problem } from '../../contract/errors.ts'
import type { Database } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import { canonicalize } from '../../lib/canonical-json.ts'
import { type Cancel, type Clock, pause } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { type BodyReader, type BulkPiece, createBodyReader, type StorableMessage } from './body-reader.ts'
import { COPY_ROWS, type CopyBuffer, createCopyBuffer } from './copy-buffer.ts'
import { createIdentity } from './identity.ts'
import { createIntakeLimiter } from './intake-limiter.ts'
import {
  dropAccepting,
  findAccepting,
  findByKey,
  finishIntake,
  insertAccepting,
  rejectAbandoned,
  rejectIncomplete,
  storeProgress,
} from './intake-store.ts'
import type { Job, JobId, JobRef } from './job.ts'
import { carriesCode, sealRow } from './secret-row.ts'

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
  seal: Pick<Seal, 'seal'>
  node(): number
}

/**
 * Rows are stored in pieces of about this size: a job holds two of them, one that is being filled and one that is being
 * written. With larger pieces the garbage collector promotes rows to the old generation while they wait, and memory
 * grows with a long body.
 */
const PIECE_BYTES = 262_144
/** A job is inserted this long after its first row, if its first piece is not full before, so that it can be seen; in ms. */
const SHOWN_AFTER_MS = 250
/** How often the progress is stored, in ms. */
const NOTED_EVERY_MS = 500
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
    const identity = createIdentity()
    const rows = createRowWriter(request, body)
    try {
      for await (const { parts, bytes } of request.pieces) {
        for (const part of parts) {
          const messages = body.readPart(part)
          if (messages.length === 0) continue
          const texts = messages.map(canonicalize)
          identity.add(texts)
          rows.add(messages, texts)
        }
        body.endPiece(bytes)
        if (rows.isFull()) await rows.hand()
      }
      body.end()
      await rows.flush()
      if (!rows.isKeyTaken()) {
        const job = await finishIntake(db, rows.job, {
          total: body.total,
          name: body.name,
          perSecond: body.perSecond!,
          bodyHash: identity.digest(body.name, body.perSecond!),
        })
        if (!job) throw intakeInterrupted()
        return { job, replayed: false }
      }
    } catch (error) {
      await rows.abandon(error)
      throw error instanceof IntakeCut ? error.problem : error
    } finally {
      runningJobs.delete(rows.job.id)
    }
    // Another request has taken the key meanwhile; this body has been read to its end.
    return answerFor(request, identity.digest(body.name, body.perSecond!))
  }

  /** Writes rows in pieces, each while the next one is filled. The first piece inserts the job. */
  function createRowWriter({ caller, key }: BulkRequest, body: BodyReader) {
    const job: JobRef = { accountId: caller.account.id, id: deps.ids.next('job') }
    let inserted: 'not yet' | 'made' | 'taken' = 'not yet'
    let stored = 0
    let notedMs = Number.NEGATIVE_INFINITY
    let gathered = createCopyBuffer(job, PIECE_BYTES)
    let written = createCopyBuffer(job, PIECE_BYTES)
    let writing: Promise<void> = Promise.resolve()
    let line: Promise<void> = Promise.resolve()
    let cancelShow: Cancel | undefined

    /** Inserts the job of a slow body, so that it can be seen. */
    function show(): void {
      if (stored === 0 && !body.isRefused()) writePiece().catch(() => {})
    }

    async function insertJob(): Promise<void> {
      if (inserted !== 'not yet') return
      runningJobs.add(job.id)
      const { name, perSecond } = body
      const fields = { ...job, live: caller.mode === 'live', keyId: caller.keyId, key, name, perSecond }
      inserted = (await insertAccepting(db, fields, deps.node())) ? 'made' : 'taken'
    }

    async function write(piece: CopyBuffer, total: number): Promise<void> {
      await db.copy(COPY_ROWS, piece.bytes())
      if (clock.monotonic() - notedMs < NOTED_EVERY_MS) return
      const { name, perSecond } = body
      if (!(await storeProgress(db, job, { total, name, perSecond }))) throw intakeInterrupted()
      notedMs = clock.monotonic()
    }

    /** Writes one piece after the other: the body and the timer may ask at the same time. */
    function writePiece(): Promise<void> {
      const turn = line.then(startPiece)
      line = turn.catch(() => {})
      return turn
    }

    /** Waits for the previous piece, then starts to write this one without waiting for it. */
    async function startPiece(): Promise<void> {
      await writing
      await insertJob()
      if (gathered.rows() === 0) return
      const piece = gathered
      gathered = written
      gathered.clear()
      written = piece
      stored += piece.rows()
      if (inserted === 'taken') return
      writing = write(piece, stored)
      // A failure is thrown where `writing` is awaited next.
      writing.catch(() => {})
    }

    return {
      job,
      isKeyTaken: () => inserted === 'taken',
      /** Adds messages; `texts` are the same in canonical JSON. */
      add(messages: readonly StorableMessage[], texts: readonly string[]): void {
        cancelShow ??= clock.after(SHOWN_AFTER_MS, show)
        for (const [at, text] of texts.entries()) {
          const message = messages[at]!
          const body = carriesCode(message) ? sealRow(text, message.to, job.id, deps.seal) : text
          gathered.add(stored + gathered.rows(), body)
        }
      },
      isFull: () => gathered.isFull(),
      hand: writePiece,
      async flush(): Promise<void> {
        cancelShow?.()
        await writePiece()
        await writing
      },
      /** Deletes the job of a refused body, rejects that of a cut one. If the database is away, the sweep rejects it. */
      async abandon(error: unknown): Promise<void> {
        cancelShow?.()
        await line
        await writing.catch(() => {})
        const incomplete = !(error instanceof Problem || body.isRefused())
        // Cut before the job was inserted: insert it, so that the sender, who got no answer, finds it rejected.
        if (incomplete && isCutMidway(error, body)) await insertJob().catch(() => {})
        if (inserted !== 'made') return
        const gone = incomplete
          ? rejectIncomplete(db, job, reasonOf(error), clock.now())
          : dropAccepting(db, job)
        await gone.catch(() => {})
      },
    }
  }

  // --- a key that was used before -----------------------------------------------

  /** Reads the body only to compare it with the job that has its key; stores nothing. */
  async function compareBody(request: BulkRequest): Promise<{ job: Job; replayed: boolean }> {
    const body = createBodyReader()
    const identity = createIdentity()
    try {
      for await (const { parts, bytes } of request.pieces) {
        for (const part of parts) {
          const texts = body.readPart(part).map(canonicalize)
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

/** A sweep has rejected the job, because it took this node for dead. */
function intakeInterrupted(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The intake of the job was interrupted. Send the request again.',
    {
      retryAfterSeconds: 1,
    },
  )
}
