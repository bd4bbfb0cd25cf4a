import type { AttachmentType } from '../../contract/enums.ts'
import type { InboundCard, InboundLocation } from '../../contract/inbound-message.ts'
import type { InboundContact, InboundMedia, InboundMessage } from '../../contract/reported-message.ts'
import { numberOf } from '../shared/contact-card.ts'
import { entryOf } from '../shared/table.ts'
import { asFields, type Fields, objectsIn, stringOf, textOf, timeOf } from './fields.ts'

/** Events of the type "message" in which nobody says anything: a changed number, a message that its author deleted. */
const NO_MESSAGES: readonly unknown[] = ['system', 'revoke']

/**
 * A message from a person; null for other events, such as a changed number.
 * Source: https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/reference/messages.
 */
export function readMessage(message: Fields, to: string, contacts: readonly Fields[]): InboundMessage | null {
  const { id, type } = message
  const from = senderOf(message)
  if (typeof id !== 'string' || from === null || NO_MESSAGES.includes(type)) return null
  const { kind, part, replyTo } = type === 'edit' ? editedOf(message) : contentOf(message)
  const media = mediaOf(kind, part)
  const group = textOf(message['group_id'])
  return {
    kind: 'message',
    eventId: id,
    channel: 'official_chatapp',
    from: phoneDigitsOf(from) === null ? from : `+${from}`,
    to,
    ...(group !== null && { chatId: group }),
    contact: contactOf(from, contacts),
    ...textAndButton(kind, part),
    ...(media && { media: [media] }),
    ...(kind === 'location' && { location: locationOf(part) }),
    ...(kind === 'contacts' && { contacts: objectsIn(message['contacts']).map(cardOf) }),
    ...(replyTo !== null && { replyTo }),
    atMs: timeOf(message['timestamp']),
  }
}

type Content = { kind: string; part: Fields; replyTo: string | null }

function contentOf(message: Fields): Content {
  const kind = stringOf(message['type'])
  const part = asFields(message[kind])
  return { kind, part, replyTo: textOf(asFields(message['context'])['id']) ?? textOf(part['message_id']) }
}

/**
 * A message that its author has edited: the new words, as an answer to the message that they replace.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/edit.
 */
function editedOf({ edit }: Fields): Content {
  const { message, original_message_id: original } = asFields(edit)
  return { ...contentOf(asFields(message)), replyTo: textOf(original) }
}

const PHONE = /^\+?(\d{5,20})$/

/** The digits of a person's number, which WhatsApp writes without a plus, or, in some of its examples, with one; else null. */
export function phoneDigitsOf(value: unknown): string | null {
  return PHONE.exec(stringOf(value))?.[1] ?? null
}

/** Users who show a username instead of their number have an id that is valid for this business only. */
function senderOf({ from, from_user_id: userId }: Fields): string | null {
  const phone = phoneDigitsOf(from)
  if (phone !== null) return phone
  return typeof userId === 'string' && /^[A-Z]{2}\.\w{1,90}$/.test(userId) ? userId : null
}

/** WhatsApp's id of the person, and their profile name. */
function contactOf(from: string, contacts: readonly Fields[]): InboundContact {
  const contact = contacts.find(each => each['wa_id'] === from || each['user_id'] === from)
  return { id: from, name: textOf(asFields(contact?.['profile'])['name']) }
}

type MessageText = Pick<InboundMessage, 'text' | 'button' | 'buttonTitle'>

function textAndButton(kind: string, part: Fields): MessageText {
  switch (kind) {
    case 'text':
      return { text: textOf(part['body']), button: null }
    case 'button':
      return pressed(textOf(part['text']), textOf(part['payload']))
    case 'interactive':
      return answerOf(asFields(part[stringOf(part['type'])]))
    case 'reaction':
      // A reaction that is removed has no emoji.
      return { text: textOf(part['emoji']), button: null }
    case 'order':
      return { text: textOf(part['text']), button: null }
    default:
      return { text: textOf(part['caption']), button: null }
  }
}

/** A reply button, a row of a list, or a completed form (flow), whose answer is JSON. */
function answerOf(reply: Fields): MessageText {
  return pressed(
    textOf(reply['title']) ?? textOf(reply['body']),
    textOf(reply['id']) ?? textOf(reply['response_json']),
  )
}

function pressed(title: string | null, button: string | null): MessageText {
  return { text: title, button, buttonTitle: title }
}

const MEDIA: Readonly<Record<string, AttachmentType>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  document: 'document',
  sticker: 'image',
}

function mediaOf(kind: string, part: Fields): InboundMedia | null {
  const type = entryOf(MEDIA, kind)
  if (!type) return null
  return {
    type,
    mimetype: textOf(part['mime_type']),
    fileName: textOf(part['filename']),
    sizeBytes: null,
    reference: textOf(part['id']),
  }
}

function locationOf(part: Fields): InboundLocation {
  return {
    latitude: degreesOf(part['latitude']),
    longitude: degreesOf(part['longitude']),
    name: textOf(part['name']),
    address: textOf(part['address']),
  }
}

function degreesOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN
}

/** For each number of the card WhatsApp gives its id of it, if it has one. */
function cardOf(card: Fields): InboundCard {
  const phones = objectsIn(card['phones']).map(each => ({
    written: stringOf(each['phone']),
    waId: textOf(each['wa_id']),
  }))
  return {
    id: phones.find(({ waId }) => waId !== null)?.waId ?? null,
    name: textOf(asFields(card['name'])['formatted_name']),
    phones: phones.map(({ written, waId }) => numberOf(written, waId)),
    emails: objectsIn(card['emails']).map(each => stringOf(each['email'])),
  }
}
