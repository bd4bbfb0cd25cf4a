/** Cuts `items` into pieces, in order, none heavier than `most`; an item that is heavier is a piece of its own. */
export function cutByWeight<T>(items: readonly T[], weigh: (item: T) => number, most: number): T[][] {
  const pieces: T[][] = []
  let held = Number.POSITIVE_INFINITY
  for (const item of items) {
    const weight = weigh(item)
    if (held + weight > most) {
      pieces.push([])
      held = 0
    }
    pieces.at(-1)!.push(item)
    held += weight
  }
  return pieces
}
