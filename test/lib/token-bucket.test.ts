import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTokenBuckets } from '../../src/lib/token-bucket.ts'

describe('token buckets', () => {
  it('allows a burst, then the rate', () => {
    const buckets = createTokenBuckets(10)
    const at = (ms: number) => buckets.take('a', 10, 20, 1_000 + ms)
    for (let taken = 1; taken <= 20; taken++) {
      expect(at(0)).toMatchObject({ allowed: true, remaining: 20 - taken, retryAfterMs: 0 })
    }
    expect(at(0)).toEqual({ allowed: false, remaining: 0, resetSeconds: 2, retryAfterMs: 100 })
    expect(at(99).allowed).toBe(false)
    expect(at(100).allowed).toBe(true)
    expect(at(100).allowed).toBe(false)
    expect(at(2_100)).toMatchObject({ allowed: true, remaining: 19, resetSeconds: 1 })
  })

  it('keeps keys separate', () => {
    const buckets = createTokenBuckets(10)
    expect(buckets.take('a', 1, 1, 0).allowed).toBe(true)
    expect(buckets.take('a', 1, 1, 0).allowed).toBe(false)
    expect(buckets.take('b', 1, 1, 0).allowed).toBe(true)
  })

  it('allows a request after the retryAfterMs that it returned', () => {
    const rates = fc.double({ min: 0.01, max: 5_000, noNaN: true })
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 50 }), (rate, burst) => {
        const buckets = createTokenBuckets(10)
        for (let taken = 0; taken < burst; taken++)
          expect(buckets.take('a', rate, burst, 0).allowed).toBe(true)
        const refused = buckets.take('a', rate, burst, 0)
        expect(refused.allowed).toBe(false)
        expect(buckets.take('a', rate, burst, refused.retryAfterMs).allowed).toBe(true)
      }),
    )
  })

  it('never allows more in any interval than the burst plus the rate', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(steps, stepsMs => {
        const buckets = createTokenBuckets(10)
        const passedAtMs: number[] = []
        let nowMs = 0
        for (const stepMs of stepsMs) {
          nowMs += stepMs
          if (buckets.take('a', 5, 10, nowMs).allowed) passedAtMs.push(nowMs)
        }
        for (let from = 0; from < passedAtMs.length; from++) {
          for (let to = from; to < passedAtMs.length; to++) {
            const windowMs = passedAtMs[to]! - passedAtMs[from]!
            expect(to - from + 1).toBeLessThanOrEqual(10 + (windowMs / 1000) * 5 + 1e-6)
          }
        }
      }),
    )
  })

  it('applies a changed rate without keeping the old debt', () => {
    const buckets = createTokenBuckets(10)
    for (let taken = 0; taken < 2; taken++) buckets.take('a', 0.001, 2, 0)
    expect(buckets.take('a', 0.001, 2, 0).retryAfterMs).toBe(1_000_000)
    expect(buckets.take('a', 10, 20, 0).retryAfterMs).toBe(100)
  })

  it('holds a bounded number of buckets', () => {
    const buckets = createTokenBuckets(4)
    for (let key = 0; key < 100; key++) {
      buckets.take(String(key), 1, 1, 0)
      expect(buckets.size()).toBe(key < 2 ? key + 1 : key % 2 === 0 ? 3 : 4)
    }
  })

  it('keeps buckets that are in use when others are evicted', () => {
    const buckets = createTokenBuckets(4)
    buckets.take('busy', 1, 1, 0)
    for (let key = 0; key < 100; key++) {
      buckets.take(String(key), 1, 1, 0)
      expect(buckets.take('busy', 1, 1, 0).allowed).toBe(false)
    }
  })

  it('does not hold a bucket that is full again, so that it evicts no other', () => {
    const buckets = createTokenBuckets(4)
    buckets.take('empty', 1 / 6, 1, 0)
    for (let key = 0; key < 100; key++) {
      buckets.take(String(key), 1 / 6, 1, 0)
      buckets.refund(String(key), 1 / 6, 0)
    }
    expect(buckets.take('empty', 1 / 6, 1, 0).allowed).toBe(false)
    expect(buckets.size()).toBe(1)
  })

  it('gives back one token of several', () => {
    const buckets = createTokenBuckets(4)
    for (let taken = 0; taken < 3; taken++) buckets.take('a', 1, 3, 0)
    buckets.refund('a', 1, 0)
    expect(buckets.take('a', 1, 3, 0).allowed).toBe(true)
    expect(buckets.take('a', 1, 3, 0).allowed).toBe(false)
  })
})
