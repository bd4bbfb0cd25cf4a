import { describe, expect, it } from 'vitest'
import { comparablePhone, createPhones } from '../../src/lib/phone.ts'

const phones = createPhones({ cacheSize: 4 })

describe('phone numbers', () => {
  it.each([
    ['+201000000001', '+201000000001', 'EG', 'mobile'],
    ['+20 100 000 0001', '+201000000001', 'EG', 'mobile'],
    ['+1 (202) 555-0123', '+12025550123', 'US', 'fixed_or_mobile'],
    ['+1.202.555.0123', '+12025550123', 'US', 'fixed_or_mobile'],
    ['+ 1 ( 2 0 2 ) 5 5 5 - 0 1 2 3', '+12025550123', 'US', 'fixed_or_mobile'],
    ['+390612345678', '+390612345678', 'IT', 'fixed'],
  ])('parses %s', (text, e164, country, type) => {
    expect(phones.parse(text)).toEqual({ e164, country, possible: true })
    expect(phones.typeOf(text)).toBe(type)
  })

  it.each([
    ['+12025550123', 'US'],
    ['+14165550123', 'CA'],
    ['+12684641234', 'AG'],
    ['+79161234567', 'RU'],
    ['+77011234567', 'KZ'],
    ['+442079460000', 'GB'],
    ['+447781123456', 'GG'],
    ['+441534123456', 'JE'],
  ])('distinguishes countries that share a calling code: %s is %s', (text, country) => {
    expect(phones.parse(text)?.country).toBe(country)
  })

  it.each([
    ['+15550000001', 'US'],
    ['+440000000000', 'GB'],
    ['+70000000000', 'RU'],
  ])('assigns an unallocated number of possible length to the main country: %s is %s', (text, country) => {
    expect(phones.parse(text)).toMatchObject({ country, possible: true })
    expect(phones.typeOf(text)).toBe('unknown')
  })

  it('accepts a number that belongs to no country', () => {
    expect(phones.parse('+80012345678')).toEqual({
      e164: '+80012345678',
      country: null,
      possible: true,
    })
    expect(phones.typeOf('+80012345678')).toBe('toll_free')
  })

  it('accepts the old form of a Mexican mobile, which WhatsApp keeps, and compares it as the present form', () => {
    expect(phones.parse('+52 1 55 1234 5678')).toEqual({
      e164: '+5215512345678',
      country: 'MX',
      possible: true,
    })
    expect(comparablePhone('+5215512345678')).toBe('+525512345678')
    expect(comparablePhone('+525512345678')).toBe('+525512345678')
    expect(comparablePhone('+521551234567')).toBe('+521551234567')
  })

  it('compares a Brazilian mobile without its ninth digit as the one with it, and no other number', () => {
    expect(phones.parse('+55 31 8765 4321')).toEqual({ e164: '+553187654321', country: 'BR', possible: true })
    expect(comparablePhone('+553187654321')).toBe('+5531987654321')
    expect(comparablePhone('+5531987654321')).toBe('+5531987654321')
    expect(comparablePhone('+553133334444')).toBe('+553133334444')
    expect(comparablePhone('+5531876543210')).toBe('+5531876543210')
  })

  it('compares an Argentine mobile alike with and without its 9', () => {
    expect(phones.parse('+54 9 11 2345 6789')?.e164).toBe('+5491123456789')
    expect(comparablePhone('+5491123456789')).toBe('+541123456789')
    expect(comparablePhone('+541123456789')).toBe('+541123456789')
    expect(comparablePhone('+54911234567890')).toBe('+54911234567890')
  })

  it('marks a number of impossible length as not possible', () => {
    expect(phones.parse('+1555000000199')?.possible).toBe(false)
    expect(phones.parse('+52155123456789')?.possible).toBe(false)
  })

  it.each([
    '',
    '+',
    '201000000001',
    '00201000000001',
    '+0201000000001',
    '+1',
    '+12',
    '+999123456789',
    '+20100000000a',
    '+2010000000010000',
    'tel:+201000000001',
    '+201000000001;ext=5',
    '+201000000001 x5',
    '+٢٠١٠٠٠٠٠٠٠٠١',
    '+20\u00001000000001',
    `+${'1'.repeat(1_000_000)}`,
  ])('rejects text that is not a phone number', text => {
    expect(phones.parse(text)).toBeNull()
  })

  it('gives the same result from the cache and after eviction from it', () => {
    const first = phones.parse('+201000000001')
    expect(phones.parse('+201000000001')).toBe(first)
    for (let n = 0; n < 10; n++) phones.parse(`+20100000001${n}`)
    const again = phones.parse('+201000000001')
    expect(again).not.toBe(first)
    expect(again).toEqual(first)
  })
})
