import { type Detail, Problem } from '../../contract/errors.ts'
import type { Database } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Cancel, Clock } from '../../lib/clock.ts'
import type { BodyReader, Flaws, StorableMessage } from './body-reader.ts'
import { COPY_ROWS, type CopyBuffer, createCopyBuffer } from './copy-buffer.ts'
import {
  dropAccepting,
  insertAccepting,
  type NewIntake,
  rejectIncomplete,
  storeProgress,
} from './intake-store.ts'
import type { JobRef } from './job.ts'
import { carriesCode, flawedRow, sealRow } from './stored-row.ts'

/** Stores the rows of a job while its body arrives, in pieces, each written while the next one is filled. */
export type RowWriter = {
  /** Adds messages; `texts` are the same in canonical JSON. Of those with a flaw, that is stored, and their text is not used. */
  add(messages: readonly StorableMessage[], texts: readonly string[], flaws?: Flaws): void
  /** Whether the piece is full, and should be written. */
  isFull(): boolean
  /** Starts to write the piece once the one before it is written; its failure is thrown by the next call. */
  writePiece(): Promise<void>
  /** Writes what is left, and resolves when all is written. */
  flush(): Promise<void>
  /** Whether another request has taken the key, so that nothing was stored. */
  isKeyTaken(): boolean
  /** Deletes the job. Never rejects, as `reject`: if the database is away, the sweep of intakes rejects the job. */
  drop(): Promise<void>
  /** Rejects the job; with `evenIfNew` also one that was not inserted yet. */
  reject(reason: string, evenIfNew: boolean): Promise<void>
}

export type RowWriterDeps = {
  db: Database
  clock: Clock
  seal: Pick<Seal, 'seal'>
  node(): number
  /** Called before the job is inserted. */
  onInsert(): void
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

/** For one job; `fields` are those that do not come with the body. The first piece inserts the job. */
export function createRowWriter(
  job: JobRef,
  fields: Pick<NewIntake, 'live' | 'keyId' | 'key'>,
  body: BodyReader,
  { db, clock, seal, node, onInsert }: RowWriterDeps,
): RowWriter {
  let inserted: 'not yet' | 'made' | 'taken' = 'not yet'
  let stored = 0
  let notedMs = Number.NEGATIVE_INFINITY
  let gathered = createCopyBuffer(job, PIECE_BYTES)
  let written = createCopyBuffer(job, PIECE_BYTES)
  let writing: Promise<void> = Promise.resolve()
  let starting: Promise<void> = Promise.resolve()
  let cancelEarlyInsert: Cancel | undefined

  /** Inserts the job of a slow body, so that it can be seen. */
  function insertEarly(): void {
    if (stored === 0 && !body.isRefused()) writePiece().catch(() => {})
  }

  async function insertJob(): Promise<void> {
    if (inserted !== 'not yet') return
    onInsert()
    const { name, perSecond } = body
    inserted = (await insertAccepting(db, { ...job, ...fields, name, perSecond }, node())) ? 'made' : 'taken'
  }

  async function write(piece: CopyBuffer, total: number): Promise<void> {
    await db.copy(COPY_ROWS, piece.bytes())
    if (clock.monotonic() - notedMs < NOTED_EVERY_MS) return
    const { name, perSecond } = body
    if (!(await storeProgress(db, job, { total, name, perSecond }))) throw intakeInterrupted()
    notedMs = clock.monotonic()
  }

  /** One piece after the other: the body and the timer may ask at the same time. */
  function writePiece(): Promise<void> {
    const started = starting.then(startPiece)
    starting = started.catch(() => {})
    return started
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

  function storedForm(message: StorableMessage, text: string, flaw: Detail | undefined): string {
    if (flaw) return flawedRow(message.to, flaw)
    return carriesCode(message) ? sealRow(text, message.to, job.id, seal) : text
  }

  /** Resolves when nothing is being written. */
  async function settle(): Promise<void> {
    cancelEarlyInsert?.()
    await starting
    await writing.catch(() => {})
  }

  return {
    add(messages, texts, flaws) {
      cancelEarlyInsert ??= clock.after(SHOWN_AFTER_MS, insertEarly)
      for (const [at, text] of texts.entries()) {
        const message = messages[at]!
        gathered.add(stored + gathered.rows(), storedForm(message, text, flaws?.get(at)))
      }
    },
    isFull: () => gathered.isFull(),
    writePiece,
    async flush() {
      cancelEarlyInsert?.()
      await writePiece()
      await writing
    },
    isKeyTaken: () => inserted === 'taken',
    async drop() {
      await settle()
      if (inserted === 'made') await dropAccepting(db, job).catch(() => {})
    },
    async reject(reason, evenIfNew) {
      await settle()
      if (evenIfNew) await insertJob().catch(() => {})
      if (inserted === 'made') await rejectIncomplete(db, job, reason, clock.now()).catch(() => {})
    },
  }
}

/** A sweep has rejected the job, because it took this node for dead. */
export function intakeInterrupted(): Problem {
  return new Problem(
    'SERVICE_UNAVAILABLE',
    'The intake of the job was interrupted. Send the request again.',
    {
      retryAfterSeconds: 1,
    },
  )
}
