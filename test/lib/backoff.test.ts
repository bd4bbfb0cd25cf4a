import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../src/lib/backoff.ts'
import type { Random } from '../../src/lib/random.ts'

const fixed = (fraction: number): Random => ({ bytes: size => Buffer.alloc(size), fraction: () => fraction })

describe('backoff', () => {
  it('doubles with each attempt up to the cap', () => {
    const longest = [1, 2, 3, 4, 5].map(attempt => backoffMs(100, attempt, fixed(1), 1_000))
    expect(longest).toEqual([100, 200, 400, 800, 1_000])
  })

  it('draws the upper half of the delay at random', () => {
    expect(backoffMs(100, 2, fixed(0), 1_000)).toBe(100)
    expect(backoffMs(100, 2, fixed(0.5), 1_000)).toBe(150)
  })

  it('stays between half of the cap and the cap, for any number of attempts', () => {
    const fractions = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
    fc.assert(
      fc.property(fc.integer({ min: 40, max: 1e9 }), fractions, (attempt, fraction) => {
        const delayMs = backoffMs(250, attempt, fixed(fraction), 60_000)
        expect(delayMs).toBeGreaterThanOrEqual(30_000)
        expect(delayMs).toBeLessThanOrEqual(60_000)
      }),
    )
  })
})
