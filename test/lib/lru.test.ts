import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLru } from '../../src/lib/lru.ts'
import { memoryInUse } from '../support/garbage.ts'

describe('lru', () => {
  it('evicts the least recently used entry', () => {
    const lru = createLru<string, number>(2)
    lru.set('a', 1)
    lru.set('b', 2)
    lru.get('a')
    lru.set('c', 3)
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3])
  })

  it('counts a write as a use, and replaces a value without evicting another entry', () => {
    const lru = createLru<string, number>(2)
    lru.set('a', 1)
    lru.set('b', 2)
    lru.set('a', 3)
    lru.set('c', 4)
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([3, undefined, 4])
  })

  it('behaves like a list of the most recently used keys, for any sequence of calls', () => {
    const call = fc.record({ kind: fc.constantFrom('get', 'set', 'delete'), key: fc.nat(6) })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(call, { maxLength: 60 }), (room, calls) => {
        const lru = createLru<number, number>(room)
        let model: [number, number][] = []
        calls.forEach(({ kind, key }, at) => {
          const held = model.find(entry => entry[0] === key)
          if (kind === 'get') expect(lru.get(key)).toBe(held?.[1])
          if (kind === 'delete') expect(lru.delete(key)).toBe(held !== undefined)
          if (kind === 'set') lru.set(key, at)
          if (kind === 'get' && !held) return
          model = model.filter(entry => entry[0] !== key)
          if (kind !== 'delete') model.push([key, kind === 'set' ? at : held![1]])
          model = model.slice(-room)
          expect(lru.size()).toBe(model.length)
        })
      }),
    )
  })

  it('does not grow when entries are read again and again', () => {
    const lru = createLru<number, number>(2_000)
    for (let key = 0; key < 1_000; key++) lru.set(key, key)
    const before = memoryInUse().heapUsed
    for (let round = 0; round < 1_000_000; round++) lru.get(round % 1_000)
    expect(memoryInUse().heapUsed - before).toBeLessThan(5_000_000)
    // Keeps the map in use: otherwise it could be garbage-collected before the measurement.
    expect(lru.size()).toBe(1_000)
  })

  it('rejects a size of zero or NaN', () => {
    expect(() => createLru(0)).toThrow(RangeError)
    expect(() => createLru(Number.NaN)).toThrow(RangeError)
  })
})
