import fc from 'fast-check'
import {
  getCountries,
  getCountryCallingCode,
  type PhoneNumber,
  parsePhoneNumberWithError,
} from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it } from 'vitest'
import { typeOfNumber } from '../../src/lib/phone-type.ts'

/** What the library calls each type. */
const LIBRARY_NAMES: Record<string, string> = {
  mobile: 'MOBILE',
  fixed: 'FIXED_LINE',
  fixed_or_mobile: 'FIXED_LINE_OR_MOBILE',
  toll_free: 'TOLL_FREE',
  premium: 'PREMIUM_RATE',
  shared_cost: 'SHARED_COST',
  voip: 'VOIP',
  personal: 'PERSONAL_NUMBER',
  pager: 'PAGER',
  uan: 'UAN',
  voicemail: 'VOICEMAIL',
  unknown: 'none',
}
const COUNTRIES = getCountries()
/** Of numbers that belong to no country. */
const SHARED_CODES = ['800', '808', '870', '878', '881', '882', '883', '888', '979']
const CALLING_CODES = [
  ...new Set([...COUNTRIES.map(country => getCountryCallingCode(country)), ...SHARED_CODES]),
]

function parsed(text: string): PhoneNumber | null {
  try {
    return parsePhoneNumberWithError(text)
  } catch {
    return null
  }
}

function expectAgreement(number: PhoneNumber): string {
  const expected = number.getType() ?? 'none'
  expect(LIBRARY_NAMES[typeOfNumber(number)], number.number).toBe(expected)
  return expected
}

describe('the type of a number', () => {
  it.each(COUNTRIES)('is that of the library for a mobile of %s, and for the numbers around it', country => {
    const code = getCountryCallingCode(country)
    const digits = examples[country]!
    for (let at = 0; at < digits.length; at++) {
      for (let digit = 0; digit <= 9; digit++) {
        const number = parsed(`+${code}${digits.slice(0, at)}${digit}${digits.slice(at + 1)}`)
        if (number) expectAgreement(number)
      }
    }
  })

  it('is that of the library for any number', () => {
    const seen = new Set<string>()
    const digits = fc.stringMatching(/^[0-9]{4,12}$/)
    fc.assert(
      fc.property(fc.constantFrom(...CALLING_CODES), digits, (code, rest) => {
        const number = parsed(`+${code}${rest}`)
        if (number) seen.add(expectAgreement(number))
      }),
      { numRuns: 20_000, seed: 1 },
    )
    // Rare kinds are among the numbers around the mobiles, above.
    expect([...seen]).toEqual(
      expect.arrayContaining(['none', 'MOBILE', 'FIXED_LINE', 'FIXED_LINE_OR_MOBILE']),
    )
  })

  it.each([
    ['+390612345678', 'fixed'],
    ['+12025550123', 'fixed_or_mobile'],
    ['+80012345678', 'toll_free'],
    ['+499001234567', 'premium'],
    ['+491801234567', 'shared_cost'],
    ['+4970012345678', 'personal'],
    ['+447640123456', 'pager'],
    ['+443001234567', 'uan'],
    ['+498001234567', 'toll_free'],
    ['+3197012345678', 'mobile'],
    ['+3188123456', 'unknown'],
  ])('tells %s as %s', (text, type) => {
    const number = parsePhoneNumberWithError(text)
    expectAgreement(number)
    expect(typeOfNumber(number)).toBe(type)
  })
})
