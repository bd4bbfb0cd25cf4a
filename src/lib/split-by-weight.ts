/** Cuts `items` into pieces, in order, none heavier than `maxWeight`; an item that is heavier is a piece of its own. */
export function splitByWeight<T>(
  items: readonly T[],
  weightOf: (item: T) => number,
  maxWeight: number,
): T[][] {
  const pieces: T[][] = []
  let held = Number.POSITIVE_INFINITY
  for (const item of items) {
    const weight = weightOf(item)
    if (held + weight > maxWeight) {
      pieces.push([])
      held = 0
    }
    pieces.at(-1)!.push(item)
    held += weight
  }
  return pieces
}
