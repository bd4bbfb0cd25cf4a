import type { AccountId, Id } from './ids.ts'

type Owned = { accountId: AccountId; id: Id }

/**
 * Orders by account, then id, as the database sorts their uuids. Everything that writes many rows locks them
 * in this order, so that concurrent writers cannot deadlock.
 */
export function byAccountAndId(a: Owned, b: Owned): number {
  return compare(a.accountId, b.accountId) || compare(a.id, b.id)
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Runs `work` on the items sorted by `order`, and returns its results in the order of `items`. Without items,
 * `work` is not called.
 */
export async function runSorted<Item, Result>(
  items: readonly Item[],
  order: (a: Item, b: Item) => number,
  work: (sorted: Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  if (items.length === 0) return []
  const places = items.map((_, at) => at).sort((a, b) => order(items[a]!, items[b]!))
  const found = await work(places.map(at => items[at]!))
  const results: Result[] = new Array(items.length)
  places.forEach((at, position) => {
    results[at] = found[position]!
  })
  return results
}
