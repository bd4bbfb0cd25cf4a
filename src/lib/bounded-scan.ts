import type { Clock } from './clock.ts'

/** How long one request may search for the rows of a page, in ms (decision 21). */
export const SCAN_TIME_MS = 80
/** Most rows that one statement reads: some 20 ms, however rare the matches are. */
export const MOST_SCANNED_ROWS = 20_000

/** The rows that one statement found; `stoppedAt` is where it stopped, null at the end of the list. */
export type ScanStep<Row, Place> = {
  rows: Row[]
  stoppedAt: Place | null
  /** The page ends here although more rows follow. */
  cut?: boolean
}

/**
 * Searches a long list for few rows, one stretch after another, until it has `limit` rows or has searched for
 * `timeMs`. The bound is a time and not a number of rows, so that it also holds on a slow machine.
 */
export async function boundedScan<Row, Place>(
  clock: Pick<Clock, 'monotonic'>,
  { before, limit, timeMs }: { before: Place | null; limit: number; timeMs: number },
  readStep: (below: Place | null, left: number) => Promise<ScanStep<Row, Place>>,
): Promise<{ rows: Row[]; stoppedAt: Place | null }> {
  const rows: Row[] = []
  const untilMs = clock.monotonic() + timeMs
  for (let below = before; ; ) {
    const { stoppedAt, cut = false, ...found } = await readStep(below, limit - rows.length)
    rows.push(...found.rows)
    if (cut || stoppedAt === null || rows.length >= limit || clock.monotonic() >= untilMs)
      return { rows, stoppedAt }
    below = stoppedAt
  }
}
