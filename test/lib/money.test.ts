import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromMicros, MAX_MICROS, toMicros } from '../../src/lib/money.ts'

describe('money', () => {
  it.each([
    [0, 0],
    [1, 1_000_000],
    [0.1 + 0.2, 300_000],
    [0.0079 * 3, 23_700],
    [1e-10, null],
    [0.10000001, null],
    [0.3, 300_000],
    [0.000001, 1],
    [0.0000001, null],
    [0.0079, 7900],
    [1.1234567, null],
    [-2.5, -2_500_000],
    [4_432_352_120.936277, 4_432_352_120_936_277],
    [-4_432_352_120.936277, -4_432_352_120_936_277],
    [8_589_934_592, MAX_MICROS],
    [8_589_934_592.000002, null],
    [8_589_934_593, null],
    [-8_589_934_592, -MAX_MICROS],
    [-8_589_934_592.000002, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ])('%d units are %s micros', (units, micros) => {
    expect(toMicros(units)).toBe(micros)
  })

  it('has no negative zero, which would be serialised and compared differently', () => {
    expect(Object.is(toMicros(-0), 0)).toBe(true)
  })

  it('converts every amount to JSON and back without change', () => {
    fc.assert(
      fc.property(fc.integer({ min: -MAX_MICROS, max: MAX_MICROS }), micros => {
        expect(toMicros(JSON.parse(JSON.stringify(fromMicros(micros))))).toBe(micros + 0)
      }),
    )
  })

  it('accepts at most six decimal digits', () => {
    fc.assert(
      fc.property(
        fc.nat(8_000_000_000),
        fc.nat(999_999),
        fc.integer({ min: 1, max: 9 }),
        (whole, part, seventh) => {
          const six = `${whole}.${String(part).padStart(6, '0')}`
          expect(toMicros(Number(six))).toBe(whole * 1_000_000 + part)
          // Below 2^29 a seventh digit still gives a different double.
          if (whole < 2 ** 29) expect(toMicros(Number(`${six}${seventh}`))).toBeNull()
        },
      ),
    )
  })
})
