/**
 * A map of what comes and soon goes. A Map under constant change outgrows one table after the
 * other, and each of them holds on to the next: once one has lived long enough to be no longer
 * looked at by the scavenger, all that ever passes through the map stays until the next full
 * collection (measured: 3 kB a message). Here a new Map takes over before it comes to that.
 */
export type PassingMap<K, V> = {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): boolean
  /** In the order in which they were first set. */
  keys(): MapIterator<K>
  entries(): MapIterator<[K, V]>
  size(): number
}

/** A Map takes so many; or as many as it held at its beginning, that no entry is copied often. */
const LEAST_TAKEN = 128

export function createPassingMap<K, V>(): PassingMap<K, V> {
  let held = new Map<K, V>()
  let mayTake = LEAST_TAKEN

  return {
    get: key => held.get(key),
    has: key => held.has(key),
    set(key, value) {
      if (mayTake-- === 0) {
        held = new Map(held)
        mayTake = Math.max(LEAST_TAKEN, held.size)
      }
      held.set(key, value)
    },
    delete: key => held.delete(key),
    keys: () => held.keys(),
    entries: () => held.entries(),
    size: () => held.size,
  }
}
