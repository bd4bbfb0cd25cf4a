import { describe, expect, test } from 'vitest'
import { generateCode, normalizeCode } from '../../src/lib/one-time-code.ts'
import { createRandom } from '../../src/lib/random.ts'

describe('normalizeCode', () => {
  test.each([
    ['042917', '042917'],
    [' 042 917 ', '042917'],
    ['042-917', '042917'],
    ['0 4 2‑9—1 7', '042917'],
    ['٠٤٢٩١٧', '042917'], // Arabic-Indic
    ['۰۴۲۹۱۷', '042917'], // Persian
    ['०४२९१७', '042917'], // Devanagari
    ['０４２９１７', '042917'], // full-width
    ['𝟘𝟜𝟚𝟡𝟙𝟟', '042917'], // mathematical, beyond the basic plane
    ['٠٤2-९17', '042917'],
    ['\u200f042917\u200e', '042917'],
    ['\u00a0042\u2009917', '042917'],
  ])('reads %j as %s', (text, code) => {
    expect(normalizeCode(text)).toBe(code)
  })

  test.each([
    '',
    ' - ',
    '04291a',
    '042.917',
    '042,917',
    '½42917',
    '²42917',
    '四二九一七〇',
    '-042917x',
    'Ⅷ42917',
  ])('rejects %j', text => {
    expect(normalizeCode(text)).toBeNull()
  })

  test('reads the decimal digits of every ICU numbering system', () => {
    let systems = 0
    for (const system of Intl.supportedValuesOf('numberingSystem')) {
      const format = new Intl.NumberFormat('en', { numberingSystem: system, useGrouping: false })
      const written = format.format(9_876_543_210)
      if (!/^\p{Nd}+$/u.test(written)) continue
      systems++
      expect([system, normalizeCode(written)]).toEqual([system, '9876543210'])
    }
    expect(systems).toBeGreaterThan(60)
  })

  test('can rely on Unicode encoding decimal digits only in runs of ten', () => {
    const runs = new Set<number>()
    for (let at = 0x80, run = 0; at <= 0x10ffff; at++) {
      if (/\p{Nd}/u.test(String.fromCodePoint(at))) run++
      else {
        runs.add(run % 10)
        run = 0
      }
    }
    expect([...runs]).toEqual([0])
  })
})

describe('generateCode', () => {
  test('draws every digit equally often at each position', () => {
    const random = createRandom()
    const draws = 40_000
    const counts = Array.from({ length: 6 }, () => new Array<number>(10).fill(0))
    const lengths = new Set<number>()
    for (let n = 0; n < draws; n++) {
      const code = generateCode(random, 6)
      lengths.add(code.length)
      for (let at = 0; at < 6; at++) counts[at]![Number(code[at])]!++
    }
    expect([...lengths]).toEqual([6])
    // Chi-squared with 9 degrees of freedom: exceeds 50 once in about ten million positions.
    for (const place of counts) {
      const expected = draws / 10
      const chi = place.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
      expect(chi).toBeLessThan(50)
    }
  })

  test('skips bytes that would favour some digits, and keeps leading zeros', () => {
    const bytes = [255, 250, 249, 0, 10, 20, 254, 30, 40, 251, 251, 251]
    const random = { bytes: (size: number) => Buffer.from(bytes.splice(0, size)), fraction: () => 0 }
    expect(generateCode(random, 6)).toBe('900000')
    expect(generateCode({ ...random, bytes: size => Buffer.alloc(size, 7) }, 8)).toBe('77777777')
  })
})
