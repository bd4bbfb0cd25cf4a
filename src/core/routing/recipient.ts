import { type Channel, isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { joinAddress } from '../../lib/mail-address.ts'
import type { Phones } from '../../lib/phone.ts'

/** Where a message goes, told apart by the shape of `to` alone. */
export type Recipient =
  | { kind: 'phone'; address: string; country: string | null }
  | { kind: 'email'; address: string }
  | { kind: 'group'; address: string }
  /** A person on the chat app who shows no number. */
  | { kind: 'hidden'; address: string }
  | { kind: 'chat'; address: string }

/** RFC 5321 lengths; the local part as mail servers take it unquoted, UTF-8 included (RFC 6531). */
const EMAIL =
  /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)+$/u
/** Scripts whose words have joiners in them, by which they look otherwise. */
const JOINING = (
  'Arabic Syriac Mandaic Nko Mongolian Adlam Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada ' +
  'Malayalam Sinhala Myanmar Khmer Tibetan Balinese Javanese'
)
  .split(' ')
  .map(script => `\\p{Script=${script}}`)
  .join('')
/** Characters that show nothing, but where they shape a word or a picture: no mailbox has them, and a copied text may. */
const INVISIBLE = new RegExp(
  `(?!(?<=[${JOINING}])[\u200c\u200d](?=[${JOINING}])|\u200d(?=\\p{Extended_Pictographic})|(?<=\\p{Extended_Pictographic})\ufe0f)` +
    '[\\p{Default_Ignorable_Code_Point}\\p{Cf}\u2800]',
  'u',
)
const GROUP = /^[0-9][0-9-]{4,60}@g\.us$/
const HIDDEN = /^[0-9]{5,20}@lid$/
/** Bot platforms number their chats; groups are negative, public ones have a name. */
const CHAT = /^(-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{3,63})$/

/** Reads `to`; null when it is nothing that any channel can reach. */
export function readRecipient(to: string, phones: Phones): Recipient | null {
  if (to.endsWith('@g.us')) return GROUP.test(to) ? { kind: 'group', address: to } : null
  if (HIDDEN.test(to)) return { kind: 'hidden', address: to }
  if (CHAT.test(to)) return { kind: 'chat', address: to }
  if (to.includes('@')) return isEmail(to) ? { kind: 'email', address: to } : null
  const phone = phones.parse(to)
  return phone?.possible ? { kind: 'phone', address: phone.e164, country: phone.country } : null
}

/**
 * An address that no mail server could be found for is none: what takes it here is charged for it. Nor is one with
 * what nobody sees in it, which no suppression of the address that it looks like would hold for.
 */
function isEmail(to: string): boolean {
  const at = to.lastIndexOf('@')
  return EMAIL.test(to) && !INVISIBLE.test(to) && joinAddress(to.slice(0, at), to.slice(at + 1)) !== null
}

/** What each channel can reach, in the words of a refusal. */
const REACHES: Record<Channel, { kinds: readonly Recipient['kind'][]; words: string }> = {
  local_sms: { kinds: ['phone'], words: 'a phone number in E.164, as in +14155550123' },
  int_sms: { kinds: ['phone'], words: 'a phone number in E.164, as in +14155550123' },
  official_chatapp: { kinds: ['phone'], words: 'a phone number in E.164, as in +14155550123' },
  user_chatapp_session: {
    kinds: ['phone', 'group', 'hidden'],
    words: 'a phone number in E.164, a group id (<id>@g.us) or the id of a hidden person (<id>@lid)',
  },
  botapp_bot: { kinds: ['chat'], words: 'the chat id of a subscriber' },
  email_user: { kinds: ['email'], words: 'an e-mail address' },
}

export function reaches(channel: Channel, recipient: Recipient): boolean {
  return REACHES[channel].kinds.includes(recipient.kind)
}

/** Refuses a recipient that the channel cannot reach, SMS to the wrong side of the border included. */
export function checkReach(channel: Channel, recipient: Recipient, homeCountry: string): void {
  if (!reaches(channel, recipient))
    throw invalid('to', `must be ${REACHES[channel].words} for channel ${channel}`)
  if (!isSms(channel) || recipient.kind !== 'phone') return
  const right = smsChannelOf(recipient.country, homeCountry)
  if (right !== channel) {
    const where =
      right === 'local_sms'
        ? `in ${homeCountry}, the account's home country`
        : `outside ${homeCountry}, the account's home country`
    throw invalid('channel', `${channel} does not reach a number ${where}; use ${right}`)
  }
}

/** Local is the account's own country, never its calling code: +1, +7 and +44 are shared. */
export function smsChannelOf(country: string | null, homeCountry: string): Channel {
  return country === homeCountry ? 'local_sms' : 'int_sms'
}
