import { expect, test } from 'vitest'
import { createShortLivedMap } from '../../src/lib/short-lived-map.ts'

test('behaves like a Map, however many entries pass through it', () => {
  const passing = createShortLivedMap<number, string>()
  const model = new Map<number, string>()
  for (let key = 0; key < 5_000; key++) {
    passing.set(key, `value ${key}`)
    model.set(key, `value ${key}`)
    // Some keys are never deleted, so that more and more remain.
    const gone = key % 7 === 0 ? key - 1 : key - 40
    expect(passing.delete(gone)).toBe(model.delete(gone))
    expect(passing.get(key)).toBe(model.get(key))
    expect(passing.has(gone)).toBe(false)
    expect(passing.size()).toBe(model.size)
  }
  expect(model.size).toBeGreaterThan(100)
  expect([...passing.keys()]).toEqual([...model.keys()])
  expect([...passing.entries()]).toEqual([...model.entries()])
})
