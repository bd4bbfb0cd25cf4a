/** A map with at most `maxEntries` entries; it evicts the least recently used one. */
export type Lru<K, V> = {
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): boolean
  clear(): void
  size(): number
}

/** `undefined` cannot be a value: it means "not held". */
export function createLru<K, V>(maxEntries: number): Lru<K, V> {
  if (!(maxEntries >= 1)) throw new RangeError(`a cache holds at least one entry, not ${maxEntries}`)
  // A Map iterates in the order of insertion: the first key is the least recently used.
  const entries = new Map<K, V>()
  // One iterator for many evictions: a new iterator would step over all deleted entries again (10 µs a write
  // at 20,000 entries).
  let oldest = entries.keys()
  let moves = 0

  function evict(): void {
    let next = oldest.next()
    if (next.done) {
      oldest = entries.keys()
      next = oldest.next()
    }
    entries.delete(next.value as K)
  }

  /**
   * Replaces the iterator from time to time: an old one keeps every table in memory that the Map has outgrown
   * since.
   */
  function noteMove(): void {
    if (++moves < maxEntries) return
    moves = 0
    oldest = entries.keys()
  }

  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      noteMove()
      return value
    },
    set(key, value) {
      if (!entries.delete(key) && entries.size >= maxEntries) evict()
      entries.set(key, value)
      noteMove()
    },
    delete: key => entries.delete(key),
    clear: () => entries.clear(),
    size: () => entries.size,
  }
}
