import type { Clock } from './clock.ts'

/** How long one request may search for the rows of a page, in ms (decision 21). */
const SCAN_TIME_MS = 80
/** Most rows that one statement reads: some 20 ms, however rare the matches are. */
export const MAX_SCANNED_ROWS = 20_000

/**
 * A stretch of a list: at most `limit` rows, below `before` and not below `stoppedAt`. Null is the beginning of the list, and its
 * end.
 */
export type Stretch<Place> = { before: Place | null; stoppedAt: Place | null; limit: number }

/** A list with a filter, and how to read it. */
export type ScannedList<Row, Place> = {
  /** Whether the filter may skip many rows before one that matches; otherwise one statement reads the page. */
  isSelective: boolean
  /** The place down to which one statement may look, so that it stays bounded; null for the end of the list. */
  findEnd(before: Place | null): Promise<Place | null>
  /** `cutAt` is the last row's place where more rows were found than returned: the page ends there. */
  read(stretch: Stretch<Place>): Promise<{ rows: Row[]; cutAt?: Place | null }>
}

/**
 * Searches a long list for few rows, one stretch after another, until it has `limit` rows or has searched for
 * SCAN_TIME_MS. The bound is a time and not a number of rows, so that it also holds on a slow machine.
 * `stoppedAt` is the place down to which it looked; null for the end of the list.
 */
export async function boundedScan<Row, Place>(
  clock: Pick<Clock, 'monotonic'>,
  { before, limit }: { before: Place | null; limit: number },
  list: ScannedList<Row, Place>,
): Promise<{ rows: Row[]; stoppedAt: Place | null }> {
  const rows: Row[] = []
  const untilMs = clock.monotonic() + SCAN_TIME_MS
  for (let below = before; ; ) {
    const stoppedAt = list.isSelective ? await list.findEnd(below) : null
    const found = await list.read({ before: below, stoppedAt, limit: limit - rows.length })
    rows.push(...found.rows)
    if (found.cutAt) return { rows, stoppedAt: found.cutAt }
    if (stoppedAt === null || rows.length >= limit || clock.monotonic() >= untilMs) return { rows, stoppedAt }
    below = stoppedAt
  }
}
