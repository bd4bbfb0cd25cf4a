import parsePhoneNumber, { type PhoneNumber } from 'libphonenumber-js/max'
import { createGenerations } from './generations.ts'
import { type PhoneType, typeOfNumber } from './phone-type.ts'

export type Phone = {
  /** E.164 with plus. */
  e164: string
  /** ISO 3166-1 alpha-2; null for codes that belong to no country (+800, +883). */
  country: string | null
  /**
   * The length fits the country's numbering plan. Enough to try a send: new ranges are in use before they are
   * in the metadata.
   */
  possible: boolean
}

export type Phones = {
  /** The number of a text in international format, or null if it is not one. */
  parse(text: string): Phone | null
  /** The type of the number, or null if the text is not one. */
  typeOf(text: string): PhoneType | null
}

/** Longer than any E.164 number with a separator after each digit. */
const MAX_TEXT_LENGTH = 40
/** Separators that people write between digits. */
const SEPARATORS = /[ ().-]+/g
/** E.164: at most 15 digits; the first one, of the country code, is not 0. */
const INTERNATIONAL = /^\+[1-9][0-9]{4,14}$/

/**
 * A Mexican mobile as it was written until 2019, with a 1 behind the country code. WhatsApp keeps accounts from that
 * time under this form, as the number of their messages and as the one that reaches them.
 */
const OLD_MEXICAN_MOBILE = /^\+521(?=[0-9]{10}$)/
/** A Brazilian mobile as it was until 2016: no 9 before the eight digits. WhatsApp and some carriers keep this form. */
const OLD_BRAZILIAN_MOBILE = /^(\+55[1-9]{2})(?=[6-9][0-9]{7}$)/
/** An Argentine mobile as it is called from abroad. Many lists and carriers leave out the 9 behind the country code. */
const ARGENTINE_MOBILE = /^\+549(?=[0-9]{10}$)/

/** E.164 as it is compared: equal for both forms of a mobile that is written in two. Other texts stay as they are. */
export function comparablePhone(e164: string): string {
  // Most numbers are none of these, and are spared three expressions.
  if (!e164.startsWith('+5')) return e164
  return e164
    .replace(OLD_MEXICAN_MOBILE, '+52')
    .replace(OLD_BRAZILIAN_MOBILE, (start: string) => `${start}9`)
    .replace(ARGENTINE_MOBILE, '+54')
}

/** A parsed number. `type` is computed at its first use; until then it is the parser's result. */
type Known = { phone: Phone; type: PhoneType | PhoneNumber }

/**
 * Parses phone numbers by Google's metadata. Parsing takes about 5 µs, so the results of up to `cacheSize` texts
 * are cached, null ones included.
 */
export function createPhones(options: { cacheSize: number }): Phones {
  // Not a Map whose entries are deleted one by one: it would move all entries into V8's old generation
  // (docs/decisions/0024).
  const known = createGenerations<string, Known | null>(options.cacheSize)

  function find(text: string): Known | null {
    if (text.length > MAX_TEXT_LENGTH) return null
    const held = known.get(text)
    if (held !== undefined) return held
    const made = read(text)
    known.set(text, made)
    return made
  }

  return {
    parse: text => find(text)?.phone ?? null,
    typeOf(text) {
      const number = find(text)
      if (!number) return null
      if (typeof number.type !== 'string') number.type = typeOfNumber(number.type)
      return number.type
    },
  }
}

function read(text: string): Known | null {
  const compact = text.replace(SEPARATORS, '')
  if (!INTERNATIONAL.test(compact)) return null
  const parsed = parsePhoneNumber(compact)
  if (!parsed) return null
  const possible = parsed.isPossible() || OLD_MEXICAN_MOBILE.test(parsed.number)
  const phone = { e164: parsed.number, country: countryOf(parsed), possible }
  return { phone, type: parsed }
}

/**
 * By the whole number, never by the country code alone, which several countries may share (+1, +7, +44). An
 * unallocated number gets the main country of its code, which the metadata lists first.
 */
function countryOf(parsed: PhoneNumber): string | null {
  return parsed.country ?? parsed.getPossibleCountries()[0] ?? null
}
