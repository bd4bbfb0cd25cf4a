import { toUuid } from '../../lib/ids.ts'
import { createUtf8Buffer } from '../../lib/utf8-buffer.ts'
import type { JobRef } from './job.ts'

/** Rows of a job in COPY's text format, in memory that is reused. */
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

/** Beyond `fullBytes`: room for the rows of one chunk of 64 KB, up to six thousand. */
const SPARE_BYTES = 655_360
const TAB = 0x09
const LINE_FEED = 0x0a

/** A buffer for rows of the job, full at `fullBytes`. */
export function createCopyBuffer({ accountId, id }: JobRef, fullBytes: number): CopyBuffer {
  const prefix = Buffer.from(`${toUuid(accountId)}\t${toUuid(id)}\t`)
  const lines = createUtf8Buffer(fullBytes + SPARE_BYTES)
  let rows = 0

  return {
    add(n, text) {
      lines.bytes(prefix)
      lines.digits(n)
      lines.byte(TAB)
      // JSON has escaped all control characters, so only backslashes need to be escaped for COPY.
      lines.text(text.includes('\\') ? text.replaceAll('\\', '\\\\') : text)
      lines.byte(LINE_FEED)
      rows++
    },
    rows: () => rows,
    isFull: () => lines.length >= fullBytes,
    bytes: () => lines.content(),
    clear() {
      lines.clear()
      rows = 0
    },
  }
}
