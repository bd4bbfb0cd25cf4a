import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressKeyOf } from '../../../src/core/consent/address.ts'

describe('the key of an address', () => {
  test.each([
    ['Ann@Example.com', 'ann@example.com'],
    // J has no form with a caron of its own; j has.
    ['J\u030can@example.com', '\u01f0an@example.com'],
    ['\u212bke@example.com', '\u00e5ke@example.com'],
    ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
  ])('is the same for %s and %s', (one, other) => {
    expect(addressKeyOf(one)).toBe(addressKeyOf(other))
  })

  test('is its own key, and that of every spelling of its letters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('', '@example.com', '@BÜCHER.example'),
        (local, domain) => {
          const key = addressKeyOf(local + domain)
          expect(addressKeyOf(key)).toBe(key)
          for (const form of ['NFC', 'NFD'] as const)
            expect(addressKeyOf((local + domain).normalize(form))).toBe(key)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
