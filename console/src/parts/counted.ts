/** The API counts so far and no further. */
const MOST_COUNTED = 10_000

export function countUpTo(count: number): string {
  return `${count.toLocaleString()}${count >= MOST_COUNTED ? '+' : ''}`
}
