import type { SendingJob } from '../core/bulk/lane-store.ts'
import type { StoredRow } from '../core/bulk/row-store.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId, MessageId } from '../lib/ids.ts'
import { createSlidingWindow, type SlidingWindow } from '../lib/sliding-window.ts'

/**
 * A second and a little more, so that a row that was delayed on its way does not arrive within a second of the row
 * one window behind it.
 */
export const WINDOW_MS = 1_005

/** A row that waits for its turn. After the first try it keeps the id of its message, so that a repeat is recognised. */
export type PendingRow = StoredRow & {
  messageId?: MessageId
}

/** The state of a job on the node that sends it. */
export type JobState = {
  job: SendingJob
  window: SlidingWindow
  /** Its next row goes no earlier, by the monotonic clock in ms. */
  nextMs: number
  /** Rows that are next, in their order. */
  waiting: PendingRow[]
  /** The indexes of rows that are being turned into messages. */
  inFlight: number[]
  /** The first row that was not fetched yet. */
  cursor: number
  /** Incremented whenever reading starts anew: rows requested before that are ignored. */
  readGeneration: number
  fetching: boolean
  /** The connection of its last row; null where that had none, undefined before the first row. */
  lastConnectionId: ConnectionId | null | undefined
  /** It waits for a free slot there. */
  waitsForSlot: boolean
  /** Its connections are disabled: it has no share of the ceiling, and tries a row now and then. */
  hasNoConnection: boolean
  /** It waits until its pause is stored, or until a short delay is over. */
  halted: boolean
  /** Its pause is stored: it goes on when the database lists it as sending again. */
  paused: boolean
}

export function createJobState(clock: Clock, job: SendingJob): JobState {
  return {
    job,
    window: createSlidingWindow(clock, job.perSecond!, WINDOW_MS),
    nextMs: Number.NEGATIVE_INFINITY,
    waiting: [],
    inFlight: [],
    cursor: job.handedBelow,
    readGeneration: 0,
    fetching: false,
    lastConnectionId: undefined,
    waitsForSlot: false,
    hasNoConnection: false,
    halted: false,
    paused: false,
  }
}

/** Whether its first row is in progress: the connection of the others is not known yet. */
export function isConnectionUnknown({ lastConnectionId, inFlight }: JobState): boolean {
  return lastConnectionId === undefined && inFlight.length > 0
}

/** Of the bodies that wait, no others are fetched beside so many: the rows of a second may have hundreds of megabytes of attachments. */
const MAX_WAITING_CHARACTERS = 16_000_000

/** Whether so many rows wait that no others need to be fetched yet. */
export function hasRowsForNow({ job, waiting }: JobState): boolean {
  if (waiting.length >= job.perSecond!) return true
  return waiting.reduce((sum, { body }) => sum + body.length, 0) >= MAX_WAITING_CHARACTERS
}

/** Everything is handed over. */
export function isHandedOver({ job, waiting, inFlight, cursor }: JobState): boolean {
  return cursor >= job.total && waiting.length === 0 && inFlight.length === 0
}

/** All rows below have an outcome in the store. */
export function handedBelow({ waiting, inFlight, cursor }: JobState): number {
  return Math.min(cursor, waiting[0]?.n ?? cursor, ...inFlight)
}

/** Reads the rows of a job that was paused again, from the given index. */
export function restartReading(state: JobState, from: number): void {
  state.waiting = []
  state.cursor = from
  state.readGeneration++
}

/** Adds the rows that were fetched behind the cursor: each once, in order with those that were put back meanwhile. */
export function addFetchedRows(state: JobState, rows: readonly StoredRow[]): void {
  const { inFlight, job, waiting } = state
  state.cursor = rows.length === 0 ? job.total : rows.at(-1)!.n + 1
  const last = waiting.at(-1)?.n ?? -1
  const isBehind = rows.length === 0 || rows[0]!.n > last
  const here = new Set(isBehind ? inFlight : [...inFlight, ...waiting.map(row => row.n)])
  waiting.push(...rows.filter(row => !here.has(row.n)))
  if (!isBehind) waiting.sort((a, b) => a.n - b.n)
}

/** Puts a row back in its place. */
export function requeueRow({ waiting }: JobState, row: PendingRow): void {
  const at = waiting.findIndex(other => other.n > row.n)
  waiting.splice(at === -1 ? waiting.length : at, 0, row)
}
