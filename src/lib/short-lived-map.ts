/**
 * A map for entries that are deleted soon. A Map under constant change replaces its table again and again,
 * and each old table refers to the next one. Once one of them is in V8's old generation, all entries that
 * ever pass through the map stay in memory until the next full collection (measured: 3 kB a message). Here a
 * new Map takes over before that.
 */
export type ShortLivedMap<K, V> = {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  delete(key: K): boolean
  /** In the order in which they were first set. */
  keys(): MapIterator<K>
  entries(): MapIterator<[K, V]>
  size(): number
}

/**
 * Entries that one Map takes before it is replaced; more for a large map (as many as it held at first), so
 * that no entry is copied often.
 */
const MIN_INSERTS = 128

export function createShortLivedMap<K, V>(): ShortLivedMap<K, V> {
  let held = new Map<K, V>()
  let insertsLeft = MIN_INSERTS

  return {
    get: key => held.get(key),
    has: key => held.has(key),
    set(key, value) {
      if (insertsLeft-- === 0) {
        held = new Map(held)
        insertsLeft = Math.max(MIN_INSERTS, held.size)
      }
      held.set(key, value)
    },
    delete: key => held.delete(key),
    keys: () => held.keys(),
    entries: () => held.entries(),
    size: () => held.size,
  }
}
