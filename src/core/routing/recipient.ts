import { type Channel, isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { joinAddress } from '../../lib/mail-address.ts'
import type { Phones } from '../../lib/phone.ts'

/** The recipient of a message; the kind follows from the form of `to` alone. */
export type Recipient =
  | { kind: 'phone'; address: string; country: string | null }
  | { kind: 'email'; address: string }
  | { kind: 'group'; address: string }
  /** A user of the chat app who hides their number. */
  | { kind: 'hidden'; address: string }
  | { kind: 'chat'; address: string }

/** Lengths of RFC 5321; the local part without quotes, UTF-8 included (RFC 6531). */
const EMAIL =
  /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)+$/u
/** Scripts in which zero-width joiners and non-joiners change how words look. */
const JOINING = (
  'Arabic Syriac Mandaic Nko Mongolian Adlam Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada ' +
  'Malayalam Sinhala Myanmar Khmer Tibetan Balinese Javanese'
)
  .split(' ')
  .map(script => `\\p{Script=${script}}`)
  .join('')
/** Invisible characters, which copied text may contain but mailboxes do not; except where they shape words or emoji. */
const INVISIBLE = new RegExp(
  `(?!(?<=[${JOINING}])[\u200c\u200d](?=[${JOINING}])|\u200d(?=\\p{Extended_Pictographic})|(?<=\\p{Extended_Pictographic})\ufe0f)` +
    '[\\p{Default_Ignorable_Code_Point}\\p{Cf}\u2800]',
  'u',
)
const GROUP = /^[0-9][0-9-]{4,60}@g\.us$/
const HIDDEN = /^[0-9]{5,20}@lid$/
/** Ids of the chat app that no mailbox has. */
const CHAT_APP = /@(?:g\.us|c\.us|s\.whatsapp\.net)$/i
/** Chat ids of bot platforms: numbers, negative for groups; or the name of a public chat. */
const CHAT = /^(-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{3,63})$/

/** Parses `to`; null if no channel can reach it. */
export function readRecipient(to: string, phones: Phones): Recipient | null {
  if (GROUP.test(to)) return { kind: 'group', address: to }
  if (CHAT_APP.test(to)) return null
  if (HIDDEN.test(to)) return { kind: 'hidden', address: to }
  if (CHAT.test(to)) return { kind: 'chat', address: to }
  if (to.includes('@')) return isEmail(to) ? { kind: 'email', address: to } : null
  const phone = phones.parse(to)
  return phone?.possible ? { kind: 'phone', address: phone.e164, country: phone.country } : null
}

/**
 * Refuses domains that can have no mail server, since accepting the message would charge for it. Also refuses
 * invisible characters: a suppression of the address that it looks like would not apply.
 */
function isEmail(to: string): boolean {
  const at = to.lastIndexOf('@')
  return EMAIL.test(to) && !INVISIBLE.test(to) && joinAddress(to.slice(0, at), to.slice(at + 1)) !== null
}

/** The kinds of recipient that each channel reaches, and their description for error messages. */
const REACHES: Record<Channel, { kinds: readonly Recipient['kind'][]; description: string }> = {
  local_sms: { kinds: ['phone'], description: 'a phone number in E.164, as in +14155550123' },
  int_sms: { kinds: ['phone'], description: 'a phone number in E.164, as in +14155550123' },
  official_chatapp: { kinds: ['phone'], description: 'a phone number in E.164, as in +14155550123' },
  user_chatapp_session: {
    kinds: ['phone', 'group', 'hidden'],
    description: 'a phone number in E.164, a group id (<id>@g.us) or the id of a hidden person (<id>@lid)',
  },
  botapp_bot: { kinds: ['chat'], description: 'the chat id of a subscriber' },
  email_user: { kinds: ['email'], description: 'an e-mail address' },
}

/** Whether the channel has recipients of this kind at all. */
export function reaches(channel: Channel, recipient: Recipient): boolean {
  return REACHES[channel].kinds.includes(recipient.kind)
}

/** VALIDATION_ERROR if the channel cannot reach the recipient, also for local SMS abroad or international SMS at home. */
export function checkReach(channel: Channel, recipient: Recipient, homeCountry: string): void {
  if (!reaches(channel, recipient))
    throw invalid('to', `must be ${REACHES[channel].description} for channel ${channel}`)
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

/** Local means the account's country, not its calling code: several countries share +1, +7 and +44. */
export function smsChannelOf(country: string | null, homeCountry: string): Channel {
  return country === homeCountry ? 'local_sms' : 'int_sms'
}
