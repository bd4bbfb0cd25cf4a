import type { Clock } from '../lib/clock.ts'

/**
 * Caches values of the database until they change: `get` answers from memory while change notifications are
 * received, and reads the database otherwise.
 */
export type FreshCache<K, V> = {
  /** The value, or a promise of it. Null means that there is none; that is never cached. */
  get(key: K): V | null | Promise<V | null>
  /** Evicts all entries of an owner. */
  forget(owner: string): void
  clear(): void
  size(): number
}

export type FreshCacheOptions<K, V> = {
  clock: Clock
  /** Whether change notifications are received; if false, the cache is bypassed. */
  fresh(): boolean
  load(key: K): Promise<V | null>
  /** The owner (an account) whose changes evict the entry. */
  ownerOf(key: K, value: V): string
  /** An entry that was not used for long is evicted first (second chance). */
  maxEntries: number
  /** Without change notifications, a value that was read in the last `maxAgeMs` is still used; 0 by default. */
  maxAgeMs?: number
}

type Entry<V> = {
  value: V
  owner: string
  readAtMs: number
  /** Whether it was used since it was cached, or since the eviction last passed it. */
  used: boolean
}
type Load<V> = { startedAtMs: number; result: Promise<V | null> }

/**
 * A miss shares a running load only if that is younger than this, so that a slow database does not give
 * outdated values.
 */
const JOIN_MS = 250

export function createFreshCache<K, V>(options: FreshCacheOptions<K, V>): FreshCache<K, V> {
  const { clock, fresh, load, ownerOf, maxEntries, maxAgeMs = 0 } = options
  const entries = new Map<K, Entry<V>>()
  const owned = new Map<string, Set<K>>()
  const loads = new Map<K, Load<V>>()
  // Counts invalidations: a load that began before one must not be cached after it.
  let epoch = 0

  function get(key: K): V | null | Promise<V | null> {
    const entry = entries.get(key)
    if (entry && (fresh() || clock.monotonic() - entry.readAtMs < maxAgeMs)) {
      entry.used = true
      return entry.value
    }
    return join(key)
  }

  function join(key: K): Promise<V | null> {
    const running = loads.get(key)
    const nowMs = clock.monotonic()
    if (running && nowMs - running.startedAtMs <= JOIN_MS) return running.result
    const started: Load<V> = { startedAtMs: nowMs, result: read(key, nowMs) }
    loads.set(key, started)
    const done = () => {
      if (loads.get(key) === started) loads.delete(key)
    }
    started.result.then(done, done)
    return started.result
  }

  async function read(key: K, startedAtMs: number): Promise<V | null> {
    const startedIn = epoch
    const value = await load(key)
    const newer = (entries.get(key)?.readAtMs ?? startedAtMs) > startedAtMs
    if (value !== null && startedIn === epoch && !newer) store(key, value, startedAtMs)
    return value
  }

  function store(key: K, value: V, readAtMs: number): void {
    drop(key)
    if (entries.size >= maxEntries) makeRoom()
    const owner = ownerOf(key, value)
    entries.set(key, { value, owner, readAtMs, used: false })
    const siblings = owned.get(owner)
    if (siblings) siblings.add(key)
    else owned.set(owner, new Set([key]))
  }

  /**
   * Second chance: entries that were used move to the end now, since moving them at each use would cost more
   * than the use.
   */
  function makeRoom(): void {
    for (const [key, entry] of entries) {
      if (!entry.used) {
        drop(key)
        return
      }
      entry.used = false
      entries.delete(key)
      entries.set(key, entry)
    }
  }

  function drop(key: K): void {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    const siblings = owned.get(entry.owner)!
    siblings.delete(key)
    if (siblings.size === 0) owned.delete(entry.owner)
  }

  function disown(): void {
    epoch++
    loads.clear()
  }

  return {
    get,
    forget(owner) {
      disown()
      for (const key of [...(owned.get(owner) ?? [])]) drop(key)
    },
    clear() {
      disown()
      entries.clear()
      owned.clear()
    },
    size: () => entries.size,
  }
}
