import { createHash } from 'node:crypto'
import type { InboundCard, InboundLocation } from '../../contract/inbound-message.ts'
import type { InboundContact, InboundMedia, InboundMessage } from '../../contract/reported-message.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { toStorableText, toStorableTime } from '../../lib/storable.ts'
import { readFileName } from '../media/file-name.ts'
import type { InboundRow } from './store.ts'

/** A complete inbound message, as reported by its provider. */
export type ReceivedMessage = Omit<InboundRow, 'accountId' | 'id' | 'keyword' | 'conversation'> & {
  /** The owner if the provider knows it; null if it follows from the connection or the number. */
  accountId: AccountId | null
  /** The chat to reply to; null if that is `from`. */
  chatId: string | null
  /** Its decision on marketing, where the provider tells it. */
  decision?: InboundMessage['decision']
  /** Parts of it never arrived. */
  isIncomplete?: boolean
}

/** Longer than any SMS; other texts are cut. */
export const MAX_TEXT_LENGTH = 40_000
const MAX_ADDRESS_LENGTH = 100
const MAX_ID_LENGTH = 200
const MAX_NAME_LENGTH = 255
/** Longer references are dropped, since a cut one would not work. */
const MAX_REFERENCE_LENGTH = 4_000
const MAX_MEDIA = 10
const MAX_PLACE_LENGTH = 500
const MAX_CARDS = 20
/** Phones per contact card, and e-mail addresses. */
const MAX_ADDRESSES = 10
/** Includes separators between digits. */
const MAX_PHONE_LENGTH = 40
/** RFC 5321. */
const MAX_EMAIL_LENGTH = 254

/** A provider's message, cut to the limits of what is stored. */
export function toReceived(
  connection: { id: ConnectionId; provider: string },
  message: InboundMessage,
): ReceivedMessage {
  return {
    accountId: (message.accountId as AccountId | undefined) ?? null,
    connectionId: connection.id,
    provider: connection.provider,
    providerId: toEventRef(message.eventId),
    channel: message.channel,
    from: toStorableText(message.from, MAX_ADDRESS_LENGTH),
    to: toStorableText(message.to, MAX_ADDRESS_LENGTH),
    chatId: cleanOrNull(message.chatId, MAX_ADDRESS_LENGTH),
    contact: message.contact ? contactOf(message.contact) : null,
    text: message.text === null ? null : message.text.slice(0, MAX_TEXT_LENGTH),
    button: cleanOrNull(message.button, MAX_TEXT_LENGTH),
    buttonTitle: cleanOrNull(message.buttonTitle, MAX_NAME_LENGTH),
    media: (message.media ?? []).slice(0, MAX_MEDIA).map(mediaOf),
    location: message.location ? locationOf(message.location) : null,
    contacts: (message.contacts ?? []).slice(0, MAX_CARDS).flatMap(card => cardOf(card) ?? []),
    replyTo: message.replyTo == null ? null : toEventRef(message.replyTo) || null,
    sentAtMs: toStorableTime(message.atMs),
    ...(message.decision && { decision: message.decision }),
  }
}

/** A provider's id as it is stored. A long id is cut and ends in its hash, so that ids with the same beginning stay different. */
export function toEventRef(id: string): string {
  const whole = toStorableText(id)
  if (whole.length <= MAX_ID_LENGTH) return whole
  const hash = createHash('sha256').update(whole).digest('hex')
  return `${toStorableText(whole, MAX_ID_LENGTH - hash.length - 1)}~${hash}`
}

function contactOf({ id, name }: InboundContact): InboundContact | null {
  const contact = { id: cleanOrNull(id, MAX_ADDRESS_LENGTH), name: cleanOrNull(name, MAX_NAME_LENGTH) }
  return contact.id === null && contact.name === null ? null : contact
}

function mediaOf({ type, mimetype, fileName, sizeBytes, reference }: InboundMedia): InboundMedia {
  return {
    type,
    mimetype: cleanOrNull(mimetype, MAX_NAME_LENGTH),
    fileName: (fileName && readFileName(fileName, '')) || null,
    sizeBytes: Number.isSafeInteger(sizeBytes) && sizeBytes! >= 0 ? sizeBytes : null,
    reference:
      reference !== null && reference.length <= MAX_REFERENCE_LENGTH ? toStorableText(reference) : null,
  }
}

/** Null for invalid coordinates, so that the rest of the message is still stored. */
function locationOf({ latitude, longitude, name, address }: InboundLocation): InboundLocation | null {
  // Negated, so that NaN is refused, too.
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return null
  return {
    latitude,
    longitude,
    name: cleanOrNull(name, MAX_NAME_LENGTH),
    address: cleanOrNull(address, MAX_PLACE_LENGTH),
  }
}

function cardOf({ id, name, phones, emails }: InboundCard): InboundCard | null {
  const card = {
    id: cleanOrNull(id, MAX_ADDRESS_LENGTH),
    name: cleanOrNull(name, MAX_NAME_LENGTH),
    phones: addressesOf(phones, MAX_PHONE_LENGTH),
    emails: addressesOf(emails, MAX_EMAIL_LENGTH),
  }
  const isEmpty = card.name === null && card.phones.length === 0 && card.emails.length === 0
  return isEmpty ? null : card
}

/** Drops addresses that are too long, since a cut one could be another person's. */
function addressesOf(addresses: readonly string[], longest: number): string[] {
  const whole = addresses
    .map(each => toStorableText(each))
    .filter(each => each !== '' && each.length <= longest)
  return whole.slice(0, MAX_ADDRESSES)
}

function cleanOrNull(text: string | null | undefined, longest: number): string | null {
  const cleaned = text == null ? '' : toStorableText(text, longest)
  return cleaned === '' ? null : cleaned
}
