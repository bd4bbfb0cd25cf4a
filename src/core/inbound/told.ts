import { createHash } from 'node:crypto'
import type { InboundContact, InboundMedia, InboundMessage } from '../../channels/provider.ts'
import type { InboundCard, InboundLocation } from '../../contract/inbound-message.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { storable, storableTime } from '../../lib/storable.ts'
import { readFileName } from '../media/file-name.ts'
import type { InboundRow } from './store.ts'

/** A whole message as its provider told it. */
export type Told = Omit<InboundRow, 'accountId' | 'id' | 'keyword' | 'conversation'> & {
  /** Where the provider knows whose it is; null where that follows from the connection, or the number. */
  accountId: AccountId | null
  /** The chat that an answer belongs into, where that is not `from`. */
  chatId: string | null
}

/** More than any SMS has; what else comes is cut to it. */
export const LONGEST_TEXT = 40_000
const LONGEST_ADDRESS = 100
const LONGEST_ID = 200
const LONGEST_NAME = 255
/** A reference that was cut would open nothing. */
const LONGEST_REFERENCE = 4_000
const MOST_MEDIA = 10
const LONGEST_PLACE = 500
const MOST_CARDS = 20
/** Of a card, each of its phones and of its e-mail addresses. */
const MOST_ADDRESSES = 10
/** With what people write between digits. */
const LONGEST_PHONE = 40
/** RFC 5321. */
const LONGEST_EMAIL = 254

/** A message in the bounds of what is stored. */
export function toTold(connection: { id: ConnectionId; provider: string }, message: InboundMessage): Told {
  return {
    accountId: (message.accountId as AccountId | undefined) ?? null,
    connectionId: connection.id,
    provider: connection.provider,
    providerId: idOf(message.eventId),
    channel: message.channel,
    from: storable(message.from, LONGEST_ADDRESS),
    to: storable(message.to, LONGEST_ADDRESS),
    chatId: cleanOrNull(message.chatId, LONGEST_ADDRESS),
    contact: message.contact ? contactOf(message.contact) : null,
    text: message.text === null ? null : message.text.slice(0, LONGEST_TEXT),
    button: cleanOrNull(message.button, LONGEST_TEXT),
    buttonTitle: cleanOrNull(message.buttonTitle, LONGEST_NAME),
    media: (message.media ?? []).slice(0, MOST_MEDIA).map(mediaOf),
    location: message.location ? locationOf(message.location) : null,
    contacts: (message.contacts ?? []).slice(0, MOST_CARDS).flatMap(card => cardOf(card) ?? []),
    replyTo: message.replyTo == null ? null : idOf(message.replyTo) || null,
    sentAtMs: storableTime(message.atMs),
  }
}

/** One that is too long ends in its hash: those that begin alike are not one message. */
function idOf(id: string): string {
  const whole = storable(id)
  if (whole.length <= LONGEST_ID) return whole
  const hash = createHash('sha256').update(whole).digest('hex')
  return `${storable(whole, LONGEST_ID - hash.length - 1)}~${hash}`
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
    reference: reference !== null && reference.length <= LONGEST_REFERENCE ? storable(reference) : null,
  }
}

/** Null for a place that is nowhere: what was written beside it is not to be lost for that. */
function locationOf({ latitude, longitude, name, address }: InboundLocation): InboundLocation | null {
  // NaN is within no bounds.
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

/** One that was cut would be another's. */
function addressesOf(addresses: readonly string[], longest: number): string[] {
  const whole = addresses.map(each => storable(each)).filter(each => each !== '' && each.length <= longest)
  return whole.slice(0, MOST_ADDRESSES)
}

function cleanOrNull(text: string | null | undefined, longest: number): string | null {
  const cleaned = text == null ? '' : storable(text, longest)
  return cleaned === '' ? null : cleaned
}
