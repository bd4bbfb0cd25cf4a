/**
 * Those who wait, in the order of their coming. Unlike a Set it keeps nothing of those who
 * left (see passing-map.ts), and leaving costs no search.
 */
export type Line<T> = {
  /** Returns how to leave, however often. */
  enter(item: T): () => void
  all(): T[]
}

type Place<T> = { item: T | undefined; before: Place<T>; behind: Place<T> }

export function createLine<T>(): Line<T> {
  // A ring with an empty place between the last one and the first.
  const gap = { item: undefined } as Place<T>
  gap.before = gap.behind = gap

  return {
    enter(item) {
      const place: Place<T> = { item, before: gap.before, behind: gap }
      gap.before.behind = place
      gap.before = place
      return () => {
        place.before.behind = place.behind
        place.behind.before = place.before
        // One that has left refers to no other, so that it keeps none of them in memory.
        place.before = place.behind = place
        place.item = undefined
      }
    },
    all() {
      const items: T[] = []
      for (let place = gap.behind; place !== gap; place = place.behind) items.push(place.item as T)
      return items
    },
  }
}
