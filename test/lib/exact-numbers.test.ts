import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize } from '../../src/lib/canonical-json.ts'
import { canonicalNumber, parseBody, parseExactly } from '../../src/lib/exact-numbers.ts'

describe('numbers with more digits than a double has', () => {
  it.each([
    '9007199254740993',
    '-123456789012345678901234567890',
    '3.14159265358979323846',
    '1234567.89012345678901',
    '90071992547409930e-1',
  ])('%s is written as it was read', text => {
    expect(JSON.stringify(parseExactly(`{"a":[${text}]}`))).toBe(`{"a":[${text}]}`)
  })

  it.each([
    '1',
    '1.10',
    '1e23',
    '0.1000000000000000',
    '9007199254740992',
    '100000000000000000000',
    '1e-999',
    '-0',
  ])('%s loses nothing in a double, or is zero, and is a number', text => {
    expect(parseExactly(`[${text}]`)).toEqual([Number(text)])
  })

  it('keeps them in metadata at any place, and nowhere else', () => {
    const text = '[{"to":9007199254740993,"options":{"metadata":{"a":{"b":9007199254740993}}}}]'
    expect(JSON.stringify(parseBody(text))).toBe(
      '[{"to":9007199254740992,"options":{"metadata":{"a":{"b":9007199254740993}}}}]',
    )
  })

  it('keeps them in metadata of any form, whatever stands around it', () => {
    for (const text of [
      '{"metadata":9007199254740993}',
      '{"metadata":{"metadata":[9007199254740993]},"a":"\\"metadata\\":9007","b\\"metadata":1}',
      '{"2":{"metadata":9007199254740993},"1":{"metadata":"9007199254740995"}}',
      '{"a":"metadata","metadata":["]\\"}",{"x":[[]]},9007199254740993],"b":[1]}',
      '[{"metadata":{}},{"metadata":null},{"metadata":{"a":-9007199254740993}}]',
    ]) {
      const value = parseBody(text)
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)).replaceAll('740992', '740993'))
      expect(canonicalize(value)).toContain('740993')
    }
    const spaced = parseBody('{ "metadata" : [ 9007199254740993 , 1 ] , "b" : 9007199254740993 }')
    expect(JSON.stringify(spaced)).toBe('{"metadata":[9007199254740993,1],"b":9007199254740992}')
  })

  it('reads any JSON as JSON.parse does, where no number loses digits', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(parseBody(`{"metadata":${text},"b":${text}}`)).toEqual(
          JSON.parse(`{"metadata":${text},"b":${text}}`),
        )
      }),
    )
  })

  it('leaves numbers as they are in metadata that is too long for any message', () => {
    const long = `[${'9007199254740993,'.repeat(8_000)}0]`
    expect((parseBody(`{"metadata":${long}}`) as { metadata: unknown[] }).metadata[0]).toBe(9007199254740992)
  })

  it('reads a number with very many zeros in a time that grows with its length only', () => {
    const zeros = '0'.repeat(130_000)
    for (const text of [`1.${zeros}1`, `0.${zeros}1`, `1${zeros}.5`]) {
      const startedMs = performance.now()
      parseBody(`{"metadata":[0.5,${text}]}`)
      // Some 20 s where each zero is looked at once for every zero before it.
      expect(performance.now() - startedMs).toBeLessThan(2_000)
    }
  })

  it('does not mistake digits in texts for numbers', () => {
    expect(parseBody('{"metadata":["9007199254740993"]}')).toEqual({ metadata: ['9007199254740993'] })
  })
})

describe('the canonical spelling of a number', () => {
  it('is that of ECMAScript for a double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
        expect(canonicalNumber(JSON.stringify(value))).toBe(JSON.stringify(value))
      }),
    )
  })

  it.each([
    [
      ['9007199254740993', '9007199254740993.0', '9.007199254740993e15', '90071992547409930E-1'],
      '9007199254740993',
    ],
    [['0.12345678901234567890', '1234567890123456789e-19'], '0.1234567890123456789'],
    [['123456789012345678901234000', '1.23456789012345678901234e26'], '1.23456789012345678901234e+26'],
    [['-1234567890123456789e-30'], '-1.234567890123456789e-12'],
    [
      ['123456789012345678901234567891', '1.23456789012345678901234567891e29'],
      '123456789012345678901234567891',
    ],
    [['1234567890123456789e99'], '1.234567890123456789e+117'],
  ])('is the same for %j', (spellings, canonical) => {
    for (const spelling of spellings) {
      expect(canonicalize(parseExactly(`[${spelling}]`))).toBe(`[${canonical}]`)
      expect(JSON.stringify(parseExactly(`[${canonical}]`))).toBe(`[${canonical}]`)
    }
  })
})
