import parsePhoneNumber, { type PhoneNumber } from 'libphonenumber-js/max'
import { createGenerations } from './generations.ts'

export type PhoneType =
  | 'mobile'
  | 'fixed'
  /** Where the numbering plan does not tell them apart, as in the US. */
  | 'fixed_or_mobile'
  | 'toll_free'
  | 'premium'
  | 'shared_cost'
  | 'voip'
  | 'personal'
  | 'pager'
  | 'uan'
  | 'voicemail'
  /** Of a possible length, but allocated to nobody that the metadata knows. */
  | 'unknown'

export type Phone = {
  /** `+` and digits, as E.164 writes it. */
  e164: string
  /** ISO 3166-1 alpha-2; null for codes that belong to no country (+800, +883). */
  country: string | null
  /** The length fits the country's plan: enough to try, since plans grow faster than metadata. */
  possible: boolean
}

export type Phones = {
  /** The number that `text` spells internationally, or null when it spells none. */
  parse(text: string): Phone | null
  /** What kind of number it is, or null when it is none. */
  typeOf(text: string): PhoneType | null
}

/** Longer than any E.164 number with a separator after each digit. */
const MAX_TEXT_LENGTH = 40
/** What people write between digits. */
const SEPARATORS = /[ ().-]+/g
/** E.164: at most 15 digits, of which the first, of the calling code, is not 0. */
const INTERNATIONAL = /^\+[1-9][0-9]{4,14}$/

const TYPES: Record<string, PhoneType> = {
  MOBILE: 'mobile',
  FIXED_LINE: 'fixed',
  FIXED_LINE_OR_MOBILE: 'fixed_or_mobile',
  TOLL_FREE: 'toll_free',
  PREMIUM_RATE: 'premium',
  SHARED_COST: 'shared_cost',
  VOIP: 'voip',
  PERSONAL_NUMBER: 'personal',
  PAGER: 'pager',
  UAN: 'uan',
  VOICEMAIL: 'voicemail',
}

/** What is remembered of a number; of its type what tells it, until somebody asks. */
type Known = { phone: Phone; type: PhoneType | PhoneNumber }

/**
 * Reads phone numbers by Google's metadata. Parsing costs about 5 µs, and the type as much
 * again, so up to `cacheSize` of the last texts are remembered, the wrong ones included.
 */
export function createPhones(options: { cacheSize: number }): Phones {
  // No Map of which entries are deleted one by one: it would move all that passes through it into V8's old
  // generation (docs/decisions/0024).
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
      if (typeof number.type !== 'string') number.type = TYPES[number.type.getType() ?? ''] ?? 'unknown'
      return number.type
    },
  }
}

function read(text: string): Known | null {
  const compact = text.replace(SEPARATORS, '')
  if (!INTERNATIONAL.test(compact)) return null
  const parsed = parsePhoneNumber(compact)
  if (!parsed) return null
  const phone = { e164: parsed.number, country: countryOf(parsed), possible: parsed.isPossible() }
  return { phone, type: parsed }
}

/**
 * By the number, never by the calling code alone, which countries share (+1,
 * +7, +44). An unallocated number falls to the main country of its code, which
 * the metadata lists first.
 */
function countryOf(parsed: PhoneNumber): string | null {
  return parsed.country ?? parsed.getPossibleCountries()[0] ?? null
}
