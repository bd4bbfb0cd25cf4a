import { DatabaseUnavailable } from './db.ts'

/** Why one item could not be written. */
export type Failure = { error: unknown }

/**
 * Writes items together; returns the results in their order. If the database refuses the write because of one of
 * them, the items are halved until that one is alone, and only it fails. While the database is unavailable, all of
 * a write fail.
 */
export async function writeOrSplit<Item, Result>(
  items: Item[],
  write: (items: Item[]) => Promise<readonly Result[]>,
): Promise<readonly (Result | Failure)[]> {
  try {
    return await write(items)
  } catch (error) {
    if (items.length === 1 || error instanceof DatabaseUnavailable) return items.map(() => ({ error }))
    const half = items.length >> 1
    return [
      ...(await writeOrSplit(items.slice(0, half), write)),
      ...(await writeOrSplit(items.slice(half), write)),
    ]
  }
}
