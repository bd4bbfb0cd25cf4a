/** The largest number of these times within any period of one second. */
export function mostInASecond(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  let most = 0
  for (let first = 0, last = 0; last < sorted.length; last++) {
    while (sorted[last]! - sorted[first]! >= 1_000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
