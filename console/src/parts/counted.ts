/** The API counts so far and no further. */
const MOST_COUNTED = 10_000

export function countUpTo(count: number): string {
  return orMore(count, count >= MOST_COUNTED)
}

/** What was counted, where there may be more of it. */
export function orMore(count: number, more = false): string {
  return `${count.toLocaleString()}${more ? '+' : ''}`
}
