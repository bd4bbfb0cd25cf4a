import { describe, expect, test } from 'vitest'
import { createFreshCache } from '../../src/infra/fresh-cache.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** A cache over loads that the test answers itself, in whatever order. */
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
  test('answers at once what it holds, and drops what belongs to an owner', async () => {
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

  test('lets the one used longest ago go, and its owner with it', async () => {
    const { cache, warm } = bench({ maxEntries: 2 })
    await warm('a1', 'one')
    await warm('b1', 'two')
    cache.get('a1')
    await warm('c1', 'three')
    expect(cache.get('a1')).toBe('one')
    expect(cache.get('b1')).toBeInstanceOf(Promise)
    expect(cache.size()).toBe(2)
  })

  test('does not hold that there is nothing', async () => {
    const { cache, loads } = bench()
    const first = cache.get('a1')
    loads[0]!.answer(null)
    expect(await first).toBeNull()
    expect(cache.get('a1')).toBeInstanceOf(Promise)
    expect(loads).toHaveLength(2)
  })

  test('joins a load under way only while that is young', async () => {
    const { cache, clock, loads } = bench()
    const early = cache.get('a1')
    await clock.advance(250)
    expect(cache.get('a1')).toBe(early)
    await clock.advance(1)
    expect(cache.get('a1')).not.toBe(early)
    expect(loads).toHaveLength(2)
  })

  test('keeps the younger of two answers, whichever comes last', async () => {
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

  test('does not hold what was read before a change, nor lets anyone join it', async () => {
    const { cache, loads } = bench()
    const early = cache.get('a1')
    cache.forget('b')
    expect(cache.get('a1')).not.toBe(early)
    loads[0]!.answer('old')
    await early
    expect(cache.size()).toBe(0)
  })

  test('asks each time while changes are not heard, or as seldom as it may', async () => {
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

  test('tells everyone who waits of a failure, and asks anew after it', async () => {
    const { cache, loads } = bench()
    const waiting = [cache.get('a1'), cache.get('a1')]
    loads[0]!.fail(new Error('gone'))
    for (const each of waiting) await expect(each).rejects.toThrow('gone')
    expect(loads).toHaveLength(1)
    cache.get('a1')
    expect(loads).toHaveLength(2)
  })
})
