import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isApiKey, makeApiKey, prefixOf } from '../../../src/core/accounts/api-key.ts'
import { createRandom } from '../../../src/lib/random.ts'

const random = createRandom()

describe('an API key', () => {
  test('has its mode, 32 random characters and a checksum', () => {
    expect(makeApiKey('live', random)).toMatch(/^ph_live_[0-9A-Za-z]{38}$/)
    expect(makeApiKey('test', random)).toMatch(/^ph_test_[0-9A-Za-z]{38}$/)
    expect(isApiKey(makeApiKey('live', random))).toBe(true)
  })

  test('is invalid when one character is mistyped', () => {
    const key = makeApiKey('live', random)
    const letters = 'ABCxyz019'
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...letters), (at, letter) => {
        const mistyped = key.slice(0, at) + letter + key.slice(at + 1)
        expect(isApiKey(mistyped)).toBe(mistyped === key)
      }),
    )
  })

  test.each(['', 'ph_live_', 'ph_live_short', 'ph_prod_'.padEnd(46, 'a'), 'x'.repeat(100_000)])(
    'rejects malformed input %#',
    text => expect(isApiKey(text)).toBe(false),
  )

  test('has a checksum that covers its mode', () => {
    expect(isApiKey(makeApiKey('test', random).replace('test', 'live'))).toBe(false)
  })

  test('uses every character equally often, without modulo bias', () => {
    const counts = new Map<string, number>()
    for (let at = 0; at < 2_000; at++) {
      for (const letter of makeApiKey('live', random).slice(8, 40)) {
        counts.set(letter, (counts.get(letter) ?? 0) + 1)
      }
    }
    expect(counts.size).toBe(62)
    // 64,000 draws over 62 letters: 1,032 each, with a deviation of 32.
    for (const count of counts.values()) expect(Math.abs(count - 1032)).toBeLessThan(32 * 8)
  })

  test('has its first twelve characters as prefix', () => {
    const key = makeApiKey('live', random)
    expect(prefixOf(key)).toBe(key.slice(0, 12))
  })
})
