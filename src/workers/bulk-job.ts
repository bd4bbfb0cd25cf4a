import type { SendingJob } from '../core/bulk/lane-store.ts'
import type { StoredRow } from '../core/bulk/row-store.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId, MessageId } from '../lib/ids.ts'
import { createSlidingWindow, type SlidingWindow } from '../lib/sliding-window.ts'

/**
 * Any second, and a little more: a row that was slower on its way from here than the one a window
 * behind it must not arrive within a second of it.
 */
export const WINDOW_MS = 1_005

/** A row that waits for its turn. Once it was tried it keeps the id of its message, so that a repeat is recognised. */
export type RowInHand = StoredRow & {
  tried?: MessageId
  /** Each try would have recorded the message's first attempt with it, for this node to make. */
  begun?: boolean
}

/** A job as the node that hands it over knows it. */
export type JobInHand = {
  job: SendingJob
  window: SlidingWindow
  /** Its next row goes no earlier, by the monotonic clock in ms. */
  nextMs: number
  /** Rows that are next, in their order. */
  waiting: RowInHand[]
  /** Rows on their way to be messages. */
  inFlight: number[]
  /** The first row that was not fetched yet. */
  cursor: number
  /** Grows whenever the rows are read from the start again: what was asked for before does not count. */
  reading: number
  fetching: boolean
  /** The connection by which its last row went; null when it went nowhere, undefined before the first one. */
  towards: ConnectionId | null | undefined
  /** It waits for room there. */
  waitsForRoom: boolean
  /** Its connections are switched off: it has no share of the ceiling, and tries a row now and then. */
  switchedOff: boolean
  /** It waits: for its pause to be written down, or for a short rest to be over. */
  halted: boolean
  /** Its pause is written down: when the store says again that it is to be sent, it goes on. */
  paused: boolean
}

export function createJobInHand(clock: Clock, job: SendingJob): JobInHand {
  return {
    job,
    window: createSlidingWindow(clock, job.perSecond!, WINDOW_MS),
    nextMs: Number.NEGATIVE_INFINITY,
    waiting: [],
    inFlight: [],
    cursor: job.handedBelow,
    reading: 0,
    fetching: false,
    towards: undefined,
    waitsForRoom: false,
    switchedOff: false,
    halted: false,
    paused: false,
  }
}

/** Its first row is under way: where the others go is not known yet. */
export function isFindingItsWay({ towards, inFlight }: JobInHand): boolean {
  return towards === undefined && inFlight.length > 0
}

/** Everything is handed over. */
export function isHandedOver({ job, waiting, inFlight, cursor }: JobInHand): boolean {
  return cursor >= job.total && waiting.length === 0 && inFlight.length === 0
}

/** All rows below have an outcome in the store. */
export function handedBelow({ waiting, inFlight, cursor }: JobInHand): number {
  return Math.min(cursor, waiting[0]?.n ?? cursor, ...inFlight)
}

/** One that was paused is read from where the store says. */
export function readAnew(known: JobInHand, from: number): void {
  known.waiting = []
  known.cursor = from
  known.reading++
}

/** The rows behind the cursor have come: each once, in their order, with those that came back meanwhile. */
export function takeRows(known: JobInHand, rows: readonly StoredRow[]): void {
  const { inFlight, job, waiting } = known
  known.cursor = rows.length === 0 ? job.total : rows.at(-1)!.n + 1
  const last = waiting.at(-1)?.n ?? -1
  const isBehind = rows.length === 0 || rows[0]!.n > last
  const here = new Set(isBehind ? inFlight : [...inFlight, ...waiting.map(row => row.n)])
  waiting.push(...rows.filter(row => !here.has(row.n)))
  if (!isBehind) waiting.sort((a, b) => a.n - b.n)
}

/** A row comes back, to its place. */
export function putBack({ waiting }: JobInHand, row: RowInHand): void {
  const at = waiting.findIndex(other => other.n > row.n)
  waiting.splice(at === -1 ? waiting.length : at, 0, row)
}
