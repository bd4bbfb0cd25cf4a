/**
 * A queue whose items can leave from anywhere, in constant time. Unlike a Set it keeps nothing in memory of
 * items that left (see short-lived-map.ts).
 */
export type Line<T> = {
  /** Returns a function that removes the item; it may be called more than once. */
  enter(item: T): () => void
  all(): T[]
}

type Node<T> = { item: T | undefined; before: Node<T>; behind: Node<T> }

export function createLine<T>(): Line<T> {
  // A ring; `gap` is the place between the last item and the first.
  const gap = { item: undefined } as Node<T>
  gap.before = gap.behind = gap

  return {
    enter(item) {
      const place: Node<T> = { item, before: gap.before, behind: gap }
      gap.before.behind = place
      gap.before = place
      return () => {
        place.before.behind = place.behind
        place.behind.before = place.before
        // A place that was removed refers to no other, so that it keeps none in memory.
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
