import type { Clock } from './clock.ts'

/** A page is looked for so long, in ms (decision 21). */
export const LOOK_FOR_MS = 80
/** One statement looks at so many rows at most: some 20 ms, however rare what is looked for. */
export const MOST_LOOKED_AT = 20_000

/** What one statement found below a place: `downTo` is where it stopped, null at the end of all. */
export type Stretch<Row, Place> = {
  rows: Row[]
  downTo: Place | null
  /** No more belongs on this page, though there is more. */
  cut?: boolean
}

/**
 * Looks down a long list for few rows, a stretch at a time, until there are `limit`,
 * or it has looked for `forMs`. The bound is time, not a number of rows: it holds on a slow machine too.
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
