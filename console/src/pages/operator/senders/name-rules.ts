export type Rule = { holds: boolean; text: string; hint?: string }

/** GSM 03.40: what a network shows in the place of a number. */
const MAX_LETTERS = 11
/** E.164. */
const MAX_DIGITS = 15
/** Numbers with at most so many digits are short codes of one country. */
const SHORT_CODE_DIGITS = 6
/** Names that are often impersonated: banks, authorities, networks, well-known companies. */
const IMPERSONATED =
  /bank|paypal|visa|mastercard|amex|police|polizei|hmrc|customs|dhl|fedex|apple|google|microsoft|amazon|netflix|whatsapp|telegram|facebook|instagram/i
const GENERIC_WORDS =
  /^(?:info|sms|alert|alerts|notice|verify|code|otp|support|service|test|security|message|msg)$/i

export type Kind = 'Alphanumeric' | 'Short code' | 'Number'

export function kindOf(name: string): Kind {
  if (!/^[0-9]+$/.test(name)) return 'Alphanumeric'
  return name.length <= SHORT_CODE_DIGITS ? 'Short code' : 'Number'
}

/** The checks of a name that can be automated; the rest is for the reviewer. */
export function rulesOf(name: string): Rule[] {
  return kindOf(name) === 'Alphanumeric' ? wordRules(name) : numberRules(name)
}

function wordRules(name: string): Rule[] {
  return [
    { holds: name.length >= 3 && name.length <= MAX_LETTERS, text: `3 to ${MAX_LETTERS} characters` },
    {
      holds: /^[A-Za-z0-9]+$/.test(name),
      text: 'Only letters and digits',
      hint: 'Some networks drop or refuse spaces, dots and dashes.',
    },
    { holds: !/^\s|\s$|\s\s/.test(name), text: 'No spaces at the ends' },
    {
      holds: !GENERIC_WORDS.test(name),
      text: 'Identifies the sender',
      hint: 'Many networks filter words that anybody could use.',
    },
    {
      holds: !IMPERSONATED.test(name),
      text: 'Does not resemble an often forged name',
      hint: 'Ask for proof that the account may use the name.',
    },
    {
      holds: !/[A-Za-z][01]+[A-Za-z]/.test(name),
      text: 'No digits in place of letters',
      hint: 'Forged names often use 0 for O and 1 for l.',
    },
  ]
}

function numberRules(name: string): Rule[] {
  const short = name.length <= SHORT_CODE_DIGITS
  return [
    { holds: name.length >= 3 && name.length <= MAX_DIGITS, text: `3 to ${MAX_DIGITS} digits` },
    {
      holds: short || !name.startsWith('0'),
      text: 'Begins with a country code',
      hint: 'A number that begins with 0 is valid in only one country.',
    },
    {
      holds: !short,
      text: 'Reachable from other countries',
      hint: 'A short code works only in the networks that assigned it.',
    },
  ]
}
