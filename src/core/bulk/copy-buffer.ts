import { toUuid } from '../../lib/ids.ts'
import type { JobRef } from './job.ts'

/**
 * Rows of a job in COPY's text format, in memory that is reused: new strings and buffers for each
 * piece would be more garbage than the rows themselves.
 */
export type CopyBuffer = {
  /** Adds a row in canonical JSON. */
  add(n: number, text: string): void
  rows(): number
  /** Whether it holds `fullBytes`, and should be written. */
  isFull(): boolean
  /** The content; valid until `clear`. */
  bytes(): Buffer
  clear(): void
}

/**
 * Copies rows into `bulk_rows` without waiting for the disk: the commit that ends the intake comes later
 * and makes both durable. A crash before that loses rows of a job that was not accepted yet.
 */
export const COPY_ROWS =
  'set local synchronous_commit = off; copy bulk_rows (account_id, job_id, n, body) from stdin'

/** UTF-8 needs at most three bytes for a UTF-16 unit; an escaped backslash needs two. */
const MAX_BYTES_PER_UNIT = 3
/** Bytes for the row's number and the separators. */
const AROUND_A_ROW = 16
/** Beyond `fullBytes`: room for the rows of one chunk of 64 KB, up to six thousand. */
const SPARE_BYTES = 655_360
const TAB = 0x09
const LINE_FEED = 0x0a
const ZERO = 0x30

/** A buffer for rows of the job, full at `fullBytes`. */
export function createCopyBuffer({ accountId, id }: JobRef, fullBytes: number): CopyBuffer {
  const prefix = Buffer.from(`${toUuid(accountId)}\t${toUuid(id)}\t`)
  const kept = Buffer.allocUnsafeSlow(fullBytes + SPARE_BYTES)
  let buffer = kept
  let length = 0
  let rows = 0

  /** Switches to a larger buffer until `clear`. */
  function grow(most: number): void {
    const larger = Buffer.allocUnsafeSlow(length + most + SPARE_BYTES)
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }

  return {
    add(n, text) {
      // JSON has escaped all control characters, so only backslashes need to be escaped for COPY.
      const body = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
      const most = prefix.length + AROUND_A_ROW + body.length * MAX_BYTES_PER_UNIT
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

/** Writes a number of 0 or more; returns where it ends. Makes no string, which would be garbage for each row. */
function writeDigits(buffer: Buffer, at: number, value: number): number {
  let digits = 1
  for (let power = 10; power <= value; power *= 10) digits++
  for (let place = at + digits - 1; place >= at; place--) {
    buffer[place] = ZERO + (value % 10)
    value = Math.floor(value / 10)
  }
  return at + digits
}
