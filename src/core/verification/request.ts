import { isIP } from 'node:net'
import type { AccountSnapshot } from '../../contract/caller.ts'
import { isSms, VERIFICATION_CHANNELS, type VerificationChannel } from '../../contract/enums.ts'
import { invalid, type Problem } from '../../contract/errors.ts'
import type { ChannelOrder, VerificationSend } from '../../contract/verification.ts'
import type { Phones } from '../../lib/phone.ts'
import type { PhoneType } from '../../lib/phone-type.ts'
import { addressKeyOf } from '../consent/address.ts'
import { type RequestedSender, requestedSenderOf } from '../outbox/stored-content.ts'
import { type Recipient, reaches, readRecipient, smsChannelOf } from '../routing/recipient.ts'

/** A recipient that a code can be sent to. */
export type Verifiable = Extract<Recipient, { kind: 'phone' | 'email' }> & {
  /** The key by which recipients are compared: equal for all spellings. */
  key: string
  phoneType: PhoneType | null
}

/** A start's body, read and checked; `auto` leaves the channel to routing. */
export type CodeRequest = {
  recipient: Verifiable
  channels: readonly (VerificationChannel | 'auto')[]
  /** The channels are those of the account's fan-out setting that fit: the response lists each delivery. */
  fansOut: boolean
  /** The sender that the body asks for. */
  requestedSender: RequestedSender | null
  clientIp: string | null
  /** The number cannot receive an SMS, and the caller named no other channel. */
  cannotReceiveSms: boolean
}

/** Kinds of numbers, by Google's metadata, that cannot receive an SMS. */
const NO_SMS_TYPES: ReadonlySet<PhoneType> = new Set([
  'fixed',
  'toll_free',
  'shared_cost',
  'uan',
  'voicemail',
  'pager',
])

/** Reads a start's body. Throws a 400 that names the field. Pure. */
export function readCodeRequest(
  body: VerificationSend,
  account: AccountSnapshot,
  phones: Phones,
): CodeRequest {
  const channel = readChannel(body.channel)
  const recipient = readVerifiable(body.to, phones)
  const cannotReceiveSms = recipient.phoneType !== null && NO_SMS_TYPES.has(recipient.phoneType)
  if (cannotReceiveSms && channel && isSms(channel)) throw notMobile(recipient)
  const fitting = channel ? [] : fittingChannels(recipient, cannotReceiveSms, account)
  return {
    recipient,
    channels: channel
      ? [channel]
      : fitting.length > 0
        ? fitting
        : [cannotReceiveSms ? 'official_chatapp' : 'auto'],
    fansOut: fitting.length > 0 && account.verification.channels.length > 1,
    cannotReceiveSms,
    requestedSender: requestedSenderOf(body),
    clientIp: readClientIp(body.clientIp),
  }
}

function readChannel(channel: string | undefined): VerificationChannel | null {
  if (channel === undefined) return null
  const known = VERIFICATION_CHANNELS.find(each => each === channel)
  if (!known) throw invalid('channel', 'Unsupported verification channel')
  return known
}

/** Reads `to`: codes go to people alone, not to groups or bots. */
export function readVerifiable(to: string, phones: Phones): Verifiable {
  const recipient = readRecipient(to, phones)
  if (recipient?.kind !== 'phone' && recipient?.kind !== 'email') {
    throw invalid('to', 'must be a phone number in E.164, as in +14155550123, or an e-mail address')
  }
  const phoneType = recipient.kind === 'phone' ? phones.typeOf(to) : null
  return { ...recipient, key: addressKeyOf(recipient.address), phoneType }
}

/** The channels of the account's setting that fit. */
function fittingChannels(
  recipient: Verifiable,
  cannotReceiveSms: boolean,
  { verification, homeCountry }: AccountSnapshot,
): VerificationChannel[] {
  return verification.channels.filter(
    channel => fits(channel, recipient, homeCountry) && !(cannotReceiveSms && isSms(channel)),
  )
}

function fits(channel: VerificationChannel, recipient: Verifiable, homeCountry: string): boolean {
  if (!reaches(channel, recipient)) return false
  if (!isSms(channel)) return true
  return recipient.kind === 'phone' && smsChannelOf(recipient.country, homeCountry) === channel
}

/** The 400 for a number that takes no SMS, at `to`. */
export function notMobile({ phoneType }: Verifiable): Problem {
  return invalid(
    'to',
    `is not a mobile number (${phoneType?.replaceAll('_', ' ')}) and cannot receive an SMS`,
  )
}

/** Throws a VALIDATION_ERROR at `clientIp`. */
export function readClientIp(text: string | undefined): string | null {
  if (text === undefined) return null
  if (isIP(text) === 0) throw invalid('clientIp', 'must be an IPv4 or IPv6 address')
  return text
}

/** What is stored of a start's request: the fields that a resend needs, and what its response says about channels. */
export type StoredRequest = Partial<RequestedSender> &
  Pick<VerificationSend, 'channel'> & { order?: ChannelOrder; fansOut?: true }

/** As JSON; null if there is nothing to store. */
export function storedRequestOf(
  { channel, sender, senderId, officialSenderId }: VerificationSend,
  order: ChannelOrder | null,
  fansOut: boolean,
): string | null {
  const ours = { order: order ?? undefined, fansOut: fansOut || undefined }
  const stored = JSON.stringify({ channel, sender, senderId, officialSenderId, ...ours })
  return stored === '{}' ? null : stored
}
