/** The API counts up to this. */
const MOST_COUNTED = 10_000

export function countUpTo(count: number): string {
  return orMore(count, count >= MOST_COUNTED)
}

/** A count, with a plus if there may be more. */
export function orMore(count: number, more = false): string {
  return `${count.toLocaleString()}${more ? '+' : ''}`
}
