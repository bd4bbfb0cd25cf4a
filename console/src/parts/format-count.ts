/** The API counts up to this. */
export const MAX_COUNTED = 10_000

export function formatCappedCount(count: number): string {
  return formatCount(count, count >= MAX_COUNTED)
}

/** A count, with a plus if there may be more. */
export function formatCount(count: number, more = false): string {
  return `${count.toLocaleString()}${more ? '+' : ''}`
}
