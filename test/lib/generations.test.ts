import { expect, test } from 'vitest'
import { createGenerations } from '../../src/lib/generations.ts'

test('keeps what is used and forgets what is not, within its bound', () => {
  const held = createGenerations<number, string>(10)
  for (let key = 0; key < 1_000; key++) {
    held.set(key, `value ${key}`)
    expect(held.get(0)).toBe('value 0')
    expect(held.size()).toBeLessThanOrEqual(10)
  }
  expect(held.get(999)).toBe('value 999')
  expect(held.get(500)).toBeUndefined()
})

test('holds the last half of its bound for certain', () => {
  const held = createGenerations<number, number>(10)
  for (let key = 0; key < 33; key++) held.set(key, key)
  for (let key = 28; key < 33; key++) expect(held.get(key)).toBe(key)
})

test('a value that is set again is the new one, wherever the old one was', () => {
  const held = createGenerations<string, number>(2)
  held.set('one', 1)
  held.set('two', 2)
  held.set('one', 3)
  expect(held.get('one')).toBe(3)
  expect(() => createGenerations(1)).toThrow(RangeError)
})

test('what was got within one turn is held as long as it lasts', () => {
  const held = createGenerations<number, number>(10)
  held.set(0, 0)
  let turn = held.rotate()
  let turns = 0
  for (let key = 1; key < 100; key++) {
    held.set(key, key)
    if (held.rotate() !== turn) {
      turns++
      turn = held.rotate()
      // Looked up again, as whoever keeps it must.
      expect(held.get(0)).toBe(0)
    }
    expect(held.size()).toBeLessThanOrEqual(10)
  }
  expect(turns).toBeGreaterThan(15)
  expect(held.rotate()).toBe(turn)
  expect(createGenerations<number, number>(10).rotate()).not.toBe(
    createGenerations<number, number>(10).rotate(),
  )
})
