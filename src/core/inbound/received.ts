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
  /** Parts of it never arrived. */
  isIncomplete?: boolean
}

/** Longer than any SMS; other texts are cut. */
export const LONGEST_TEXT = 40_000
const LONGEST_ADDRESS = 100
const LONGEST_ID = 200
const LONGEST_NAME = 255
/** Longer references are dropped, since a cut one would not work. */
const LONGEST_REFERENCE = 4_000
const MOST_MEDIA = 10
const LONGEST_PLACE = 500
const MOST_CARDS = 20
/** Phones per contact card, and e-mail addresses. */
const MOST_ADDRESSES = 10
/** Includes separators between digits. */
const LONGEST_PHONE = 40
/** RFC 5321. */
const LONGEST_EMAIL = 254

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
    from: toStorableText(message.from, LONGEST_ADDRESS),
    to: toStorableText(message.to, LONGEST_ADDRESS),
    chatId: cleanOrNull(message.chatId, LONGEST_ADDRESS),
    contact: message.contact ? contactOf(message.contact) : null,
    text: message.text === null ? null : message.text.slice(0, LONGEST_TEXT),
    button: cleanOrNull(message.button, LONGEST_TEXT),
    buttonTitle: cleanOrNull(message.buttonTitle, LONGEST_NAME),
    media: (message.media ?? []).slice(0, MOST_MEDIA).map(mediaOf),
    location: message.location ? locationOf(message.location) : null,
    contacts: (message.contacts ?? []).slice(0, MOST_CARDS).flatMap(card => cardOf(card) ?? []),
    replyTo: message.replyTo == null ? null : toEventRef(message.replyTo) || null,
    sentAtMs: toStorableTime(message.atMs),
  }
}

/** A provider's id as it is stored. A long id is cut and ends in its hash, so that ids with the same beginning stay different. */
export function toEventRef(id: string): string {
  const whole = toStorableText(id)
  if (whole.length <= LONGEST_ID) return whole
  const hash = createHash('sha256').update(whole).digest('hex')
  return `${toStorableText(whole, LONGEST_ID - hash.length - 1)}~${hash}`
}

function contactOf({ id, name }: InboundContact): InboundContact | null {
  const contact = { id: cleanOrNull(id, LONGEST_ADDRESS), name: cleanOrNull(name, LONGEST_NAME) }
  return contact.id === null && contact.name === null ? null : contact
}

function mediaOf({ type, mimetype, fileName, sizeBytes, reference }: InboundMedia): InboundMedia {
  return {
    type,
    mimetype: cleanOrNull(mimetype, LONGEST_NAME),
    fileName: (fileName && readFileName(fileName, '')) || null,
    sizeBytes: Number.isSafeInteger(sizeBytes) && sizeBytes! >= 0 ? sizeBytes : null,
    reference: reference !== null && reference.length <= LONGEST_REFERENCE ? toStorableText(reference) : null,
  }
}

/** Null for invalid coordinates, so that the rest of the message is still stored. */
function locationOf({ latitude, longitude, name, address }: InboundLocation): InboundLocation | null {
  // Negated, so that NaN is refused, too.
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return null
  return {
    latitude,
    longitude,
    name: cleanOrNull(name, LONGEST_NAME),
    address: cleanOrNull(address, LONGEST_PLACE),
  }
}

function cardOf({ id, name, phones, emails }: InboundCard): InboundCard | null {
  const card = {
    id: cleanOrNull(id, LONGEST_ADDRESS),
    name: cleanOrNull(name, LONGEST_NAME),
    phones: addressesOf(phones, LONGEST_PHONE),
    emails: addressesOf(emails, LONGEST_EMAIL),
  }
  const isEmpty = card.name === null && card.phones.length === 0 && card.emails.length === 0
  return isEmpty ? null : card
}

/** Drops addresses that are too long, since a cut one could be another person's. */
function addressesOf(addresses: readonly string[], longest: number): string[] {
  const whole = addresses
    .map(each => toStorableText(each))
    .filter(each => each !== '' && each.length <= longest)
  return whole.slice(0, MOST_ADDRESSES)
}

function cleanOrNull(text: string | null | undefined, longest: number): string | null {
  const cleaned = text == null ? '' : toStorableText(text, longest)
  return cleaned === '' ? null : cleaned
}
