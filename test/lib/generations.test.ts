import { expect, test } from 'vitest'
import { createGenerations } from '../../src/lib/generations.ts'

test('keeps an entry that is read and drops unused ones, within its size', () => {
  const held = createGenerations<number, string>(10)
  for (let key = 0; key < 1_000; key++) {
    held.set(key, `value ${key}`)
    expect(held.get(0)).toBe('value 0')
    expect(held.size()).toBeLessThanOrEqual(10)
  }
  expect(held.get(999)).toBe('value 999')
  expect(held.get(500)).toBeUndefined()
})

test('always holds the most recent half of its size', () => {
  const held = createGenerations<number, number>(10)
  for (let key = 0; key < 33; key++) held.set(key, key)
  for (let key = 28; key < 33; key++) expect(held.get(key)).toBe(key)
})

test('a value that is set again replaces the old one, and a size of 1 is rejected', () => {
  const held = createGenerations<string, number>(2)
  held.set('one', 1)
  held.set('two', 2)
  held.set('one', 3)
  expect(held.get('one')).toBe(3)
  expect(() => createGenerations(1)).toThrow(RangeError)
})

test('an entry read in one turn is held until the turn ends', () => {
  const held = createGenerations<number, number>(10)
  held.set(0, 0)
  let turn = held.rotate()
  let turns = 0
  for (let key = 1; key < 100; key++) {
    held.set(key, key)
    if (held.rotate() !== turn) {
      turns++
      turn = held.rotate()
      // Read again, as a caller that wants to keep it must do each turn.
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
