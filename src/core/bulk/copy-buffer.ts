import { toUuid } from '../../lib/ids.ts'
import type { JobRef } from './job.ts'

/**
 * Rows of a job in COPY's text format, in memory that is used again and again: what
 * every piece would leave behind for the garbage collector is more than the rows.
 */
export type CopyBuffer = {
  /** Adds a row in canonical JSON; false when it has no room for it, which an empty one always has. */
  add(n: number, text: string): boolean
  rows(): number
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

export function createCopyBuffer({ accountId, id }: JobRef, sizeBytes: number): CopyBuffer {
  const prefix = `${toUuid(accountId)}\t${toUuid(id)}\t`
  const kept = Buffer.allocUnsafeSlow(sizeBytes)
  let buffer = kept
  let length = 0
  let rows = 0

  return {
    add(n, text) {
      // JSON escapes every control character; of what COPY reads, the backslash is left.
      const body = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
      const most = prefix.length + AROUND_A_ROW + body.length * MOST_BYTES_OF_A_UNIT
      if (most > buffer.length - length) {
        if (rows > 0) return false
        buffer = Buffer.allocUnsafeSlow(most)
      }
      length += buffer.write(`${prefix}${n}\t`, length, 'latin1')
      length += buffer.write(body, length, 'utf8')
      buffer[length++] = 0x0a
      rows++
      return true
    },
    rows: () => rows,
    bytes: () => buffer.subarray(0, length),
    clear() {
      buffer = kept
      length = 0
      rows = 0
    },
  }
}
