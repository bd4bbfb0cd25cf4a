/**
 * A queue whose items can leave from anywhere, in constant time. Unlike a Set it keeps nothing in memory of
 * items that left (see short-lived-map.ts).
 */
export type LinkedQueue<T> = {
  /** Returns a function that removes the item; it may be called more than once. */
  add(item: T): () => void
  all(): T[]
}

type Node<T> = { item: T | undefined; previous: Node<T>; next: Node<T> }

export function createLinkedQueue<T>(): LinkedQueue<T> {
  // A ring; `sentinel` is the place between the last item and the first.
  const sentinel = { item: undefined } as Node<T>
  sentinel.previous = sentinel.next = sentinel

  return {
    add(item) {
      const place: Node<T> = { item, previous: sentinel.previous, next: sentinel }
      sentinel.previous.next = place
      sentinel.previous = place
      return () => {
        place.previous.next = place.next
        place.next.previous = place.previous
        // A place that was removed refers to no other, so that it keeps none in memory.
        place.previous = place.next = place
        place.item = undefined
      }
    },
    all() {
      const items: T[] = []
      for (let place = sentinel.next; place !== sentinel; place = place.next) items.push(place.item as T)
      return items
    },
  }
}
