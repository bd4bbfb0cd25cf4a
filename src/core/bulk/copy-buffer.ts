import { toUuid } from '../../lib/ids.ts'
import type { JobRef } from './job.ts'

/**
 * Rows of a job in COPY's text format, in memory that is used again and again: what
 * every piece would leave behind for the garbage collector is more than the rows.
 */
export type CopyBuffer = {
  /** Adds a row in canonical JSON. */
  add(n: number, text: string): void
  rows(): number
  /** It is time to write it. */
  isFull(): boolean
  /** All of it; valid until it is cleared. */
  bytes(): Buffer
  clear(): void
}

/**
 * `COPY` reads rows of these columns. It waits for no disk: whoever commits behind it, as the end of
 * the intake does, waits for both; and what a crash takes before that was not a job yet.
 */
export const COPY_ROWS =
  'set local synchronous_commit = off; copy bulk_rows (account_id, job_id, n, body) from stdin'

/** UTF-8 needs at most three bytes for a unit of UTF-16; an escaped backslash two. */
const MOST_BYTES_OF_A_UNIT = 3
/** The number of a row, and what stands between the columns. */
const AROUND_A_ROW = 16
/** Beyond what makes it full: room for one chunk of 64 KB of rows, of which there may be six thousand. */
const SPARE_BYTES = 655_360
const TAB = 0x09
const LINE_FEED = 0x0a
const ZERO = 0x30

/** Full with so many bytes. */
export function createCopyBuffer({ accountId, id }: JobRef, fullBytes: number): CopyBuffer {
  const prefix = Buffer.from(`${toUuid(accountId)}\t${toUuid(id)}\t`)
  const kept = Buffer.allocUnsafeSlow(fullBytes + SPARE_BYTES)
  let buffer = kept
  let length = 0
  let rows = 0

  /** Until it is cleared. */
  function grow(most: number): void {
    const larger = Buffer.allocUnsafeSlow(length + most + SPARE_BYTES)
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }

  return {
    add(n, text) {
      // JSON escapes every control character; of what COPY reads, the backslash is left.
      const body = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
      const most = prefix.length + AROUND_A_ROW + body.length * MOST_BYTES_OF_A_UNIT
      if (most > buffer.length - length) grow(most)
      length += prefix.copy(buffer, length)
      length = writeDigits(buffer, length, n)
      buffer[length++] = TAB
      length += buffer.write(body, length, 'utf8')
      buffer[length++] = LINE_FEED
      rows++
    },
    rows: () => rows,
    isFull: () => length >= fullBytes,
    bytes: () => buffer.subarray(0, length),
    clear() {
      buffer = kept
      length = 0
      rows = 0
    },
  }
}

/** Writes a number of 0 or more, and tells where it ends. By way of a string it would leave one behind for each row. */
function writeDigits(buffer: Buffer, at: number, value: number): number {
  let digits = 1
  for (let power = 10; power <= value; power *= 10) digits++
  for (let place = at + digits - 1; place >= at; place--) {
    buffer[place] = ZERO + (value % 10)
    value = Math.floor(value / 10)
  }
  return at + digits
}
