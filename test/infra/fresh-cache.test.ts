import { describe, expect, test } from 'vitest'
import { createFreshCache } from '../../src/infra/fresh-cache.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** A cache whose loads the test answers itself, in any order. */
function bench(options: { maxEntries?: number; rereadMs?: number } = {}) {
  const clock = createFakeClock()
  const state = { fresh: true }
  const loads: { key: string; answer(value: string | null): void; fail(error: Error): void }[] = []
  const cache = createFreshCache<string, string>({
    clock,
    fresh: () => state.fresh,
    load: key => {
      const { promise, resolve, reject } = Promise.withResolvers<string | null>()
      loads.push({ key, answer: resolve, fail: reject })
      return promise
    },
    ownerOf: key => key.slice(0, 1),
    maxEntries: options.maxEntries ?? 10,
    ...(options.rereadMs === undefined ? {} : { maxAgeMs: options.rereadMs }),
  })
  async function warm(key: string, value: string) {
    const found = cache.get(key)
    loads.at(-1)!.answer(value)
    expect(await found).toBe(value)
  }
  return { clock, state, loads, cache, warm }
}

describe('a fresh cache', () => {
  test('returns a cached value synchronously, and drops the entries of an owner', async () => {
    const { cache, warm } = bench()
    await warm('a1', 'one')
    await warm('a2', 'two')
    await warm('b1', 'three')
    expect(cache.get('a1')).toBe('one')
    cache.forget('a')
    expect(cache.get('a1')).toBeInstanceOf(Promise)
    expect(cache.get('b1')).toBe('three')
    cache.clear()
    expect(cache.size()).toBe(0)
  })

  test('evicts the least recently used entry', async () => {
    const { cache, warm } = bench({ maxEntries: 2 })
    await warm('a1', 'one')
    await warm('b1', 'two')
    cache.get('a1')
    await warm('c1', 'three')
    expect(cache.get('a1')).toBe('one')
    expect(cache.get('b1')).toBeInstanceOf(Promise)
    expect(cache.size()).toBe(2)
  })

  test('does not cache a missing value', async () => {
    const { cache, loads } = bench()
    const first = cache.get('a1')
    loads[0]!.answer(null)
    expect(await first).toBeNull()
    expect(cache.get('a1')).toBeInstanceOf(Promise)
    expect(loads).toHaveLength(2)
  })

  test('shares a load in progress only while it is recent', async () => {
    const { cache, clock, loads } = bench()
    const early = cache.get('a1')
    await clock.advance(250)
    expect(cache.get('a1')).toBe(early)
    await clock.advance(1)
    expect(cache.get('a1')).not.toBe(early)
    expect(loads).toHaveLength(2)
  })

  test('keeps the value of the later load, whichever is answered last', async () => {
    const { cache, clock, loads } = bench()
    const early = cache.get('a1')
    await clock.advance(251)
    const late = cache.get('a1')
    loads[1]!.answer('new')
    await late
    loads[0]!.answer('old')
    expect(await early).toBe('old')
    expect(cache.get('a1')).toBe('new')
  })

  test('neither caches nor shares a load that started before a change', async () => {
    const { cache, loads } = bench()
    const early = cache.get('a1')
    cache.forget('b')
    expect(cache.get('a1')).not.toBe(early)
    loads[0]!.answer('old')
    await early
    expect(cache.size()).toBe(0)
  })

  test('reloads on every read while changes are not received, or once the entry is older than maxAgeMs', async () => {
    const strict = bench()
    await strict.warm('a1', 'one')
    strict.state.fresh = false
    expect(strict.cache.get('a1')).toBeInstanceOf(Promise)

    const lenient = bench({ rereadMs: 500 })
    await lenient.warm('a1', 'one')
    lenient.state.fresh = false
    await lenient.clock.advance(499)
    expect(lenient.cache.get('a1')).toBe('one')
    await lenient.clock.advance(1)
    expect(lenient.cache.get('a1')).toBeInstanceOf(Promise)
  })

  test('rejects all waiting readers when a load fails, and loads again afterwards', async () => {
    const { cache, loads } = bench()
    const waiting = [cache.get('a1'), cache.get('a1')]
    loads[0]!.fail(new Error('gone'))
    for (const each of waiting) await expect(each).rejects.toThrow('gone')
    expect(loads).toHaveLength(1)
    cache.get('a1')
    expect(loads).toHaveLength(2)
  })
})
