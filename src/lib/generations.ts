/**
 * A bounded map that forgets what was not used for long, without the cost of
 * an order: what is used moves to the young half, and when that is full the old
 * half is forgotten whole. For maps that are read far more often than they
 * forget (measured: 0.1 µs a read, where moving an entry of a large Map to its
 * end takes 4).
 */
export type Generations<K, V> = {
  get(key: K): V | undefined
  set(key: K, value: V): void
  /** Another one each time that entries are forgotten: what was got within one of them is still held. */
  turn(): object
  /** Entries that are held, those included that the next turn forgets. */
  size(): number
}

/** Holds between half of `maxEntries` and all of them. */
export function createGenerations<K, V>(maxEntries: number): Generations<K, V> {
  if (!(maxEntries >= 2)) throw new RangeError(`two generations hold at least two entries, not ${maxEntries}`)
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  let turn = {}

  function set(key: K, value: V): void {
    if (young.size >= maxEntries / 2 && !young.has(key)) {
      old = young
      young = new Map()
      turn = {}
    }
    old.delete(key)
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const kept = old.get(key)
      if (kept !== undefined) set(key, kept)
      return kept
    },
    set,
    turn: () => turn,
    size: () => young.size + old.size,
  }
}
