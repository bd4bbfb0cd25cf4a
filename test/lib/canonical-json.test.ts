import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalHash, canonicalize } from '../../src/lib/canonical-json.ts'

/** The same value with the members of every object in reverse order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, shuffled(member)]),
  )
}

describe('canonical JSON', () => {
  it('reproduces the example of RFC 8785, sections 3.2.2 and 3.2.3', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    }
    expect(canonicalize(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts keys by UTF-16 code units, as RFC 8785 requires, not by code points', () => {
    const value = {
      '\u20ac': 1,
      '\r': 2,
      '\ufb33': 3,
      '1': 4,
      '\u{1f600}': 5,
      '\u0080': 6,
      '\u00f6': 7,
    }
    expect(Object.values(JSON.parse(canonicalize(value)))).toHaveLength(7)
    expect(canonicalize(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(canonicalize(shuffled(value))).toBe(canonicalize(value))
      }),
    )
  })

  it('parses back to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(JSON.parse(canonicalize(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('differs for different values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const equal = JSON.stringify(shuffled(sorted(left))) === JSON.stringify(shuffled(sorted(right)))
        expect(canonicalize(left) === canonicalize(right)).toBe(equal)
      }),
    )
  })

  it('omits a member that is undefined', () => {
    expect(canonicalize({ b: undefined, a: 1, c: undefined })).toBe('{"a":1}')
  })

  it('writes values of 128 levels, and refuses deeper ones', () => {
    const nested = (levels: number) => {
      let value: unknown = 1
      for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value }
      return value
    }
    expect(JSON.parse(canonicalize(nested(128)))).toEqual(nested(128))
    expect(() => canonicalize(nested(129))).toThrow(RangeError)
  })

  it('rejects values that JSON cannot express, and deep nesting without a stack overflow', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(() => canonicalize(deep)).toThrow(RangeError)
    expect(() => canonicalize(Number.NaN)).toThrow(TypeError)
    expect(() => canonicalize(1n)).toThrow(TypeError)
    expect(() => canonicalize([undefined])).toThrow(TypeError)
  })

  it('is hashed with SHA-256', () => {
    const expected = createHash('sha256').update('{"a":1,"b":"é"}').digest()
    expect(canonicalHash({ b: 'é', a: 1 })).toEqual(expected)
  })
})

/**
 * Makes the order independent of the keys’ original order in another way: through a sorted list of entries.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? 0 : value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  )
}
