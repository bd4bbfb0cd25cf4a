import type { Clock } from './clock.ts'

/** How long one request may search for the rows of a page, in ms (decision 21). */
export const LOOK_FOR_MS = 80
/** Most rows that one statement reads: some 20 ms, however rare the matches are. */
export const MOST_LOOKED_AT = 20_000

/** The rows that one statement found; `downTo` is where it stopped, null at the end of the list. */
export type Stretch<Row, Place> = {
  rows: Row[]
  downTo: Place | null
  /** The page ends here although more rows follow. */
  cut?: boolean
}

/**
 * Searches a long list for few rows, one stretch after another, until it has `limit` rows or has searched for
 * `forMs`. The bound is a time and not a number of rows, so that it also holds on a slow machine.
 */
export async function lookDown<Row, Place>(
  clock: Pick<Clock, 'monotonic'>,
  { before, limit, forMs }: { before: Place | null; limit: number; forMs: number },
  look: (below: Place | null, left: number) => Promise<Stretch<Row, Place>>,
): Promise<{ rows: Row[]; downTo: Place | null }> {
  const rows: Row[] = []
  const untilMs = clock.monotonic() + forMs
  for (let below = before; ; ) {
    const { downTo, cut = false, ...found } = await look(below, limit - rows.length)
    rows.push(...found.rows)
    if (cut || downTo === null || rows.length >= limit || clock.monotonic() >= untilMs)
      return { rows, downTo }
    below = downTo
  }
}
