import type { BotChat, BotChatEvent, BotMessage, BotUpdate } from '../../contract/bot-platform.ts'
import type { AttachmentType } from '../../contract/enums.ts'
import type { InboundCard, InboundLocation } from '../../contract/inbound-message.ts'
import { numberOf, readVcard } from '../shared/contact-card.ts'
import { entryOf } from '../shared/table.ts'

/** The kinds of updates that are asked for; Telegram has many more. */
export const UPDATE_TYPES = ['message', 'callback_query', 'my_chat_member'] as const

type Fields = Record<string, unknown>
/** Longest id of a button press; Telegram's have some twenty digits. */
const MAX_PRESS_LENGTH = 100

/**
 * Reads an update of Telegram; null where it is none. It comes from outside, so every field is checked:
 * a field of an unexpected type counts as missing.
 * Source: https://core.telegram.org/bots/api#update.
 */
export function readUpdate(value: unknown): BotUpdate | null {
  const update = fieldsOf(value)
  const id = update?.['update_id']
  if (!update || !Number.isSafeInteger(id)) return null
  const told = readMessage(update) ?? readButton(update) ?? readMembership(update) ?? NOTHING
  return { id: id as number, ...told, press: pressOf(update) }
}

type UpdateContent = Omit<BotUpdate, 'id' | 'press'>
const NOTHING: UpdateContent = { chat: null, atMs: null, what: null }

function readMessage(update: Fields): UpdateContent | null {
  const message = fieldsOf(update['message'])
  const chat = message && chatOf(message['chat'], message['from'])
  if (!message || !chat) return null
  const atMs = timeOf(message['date'])
  // A group that moves is reported under its old id and its new one, in any order.
  const movedFrom = integerOf(message['migrate_from_chat_id'])
  if (movedFrom === null) return { chat, atMs, what: happeningOf(message) }
  return { chat: { ...chat, chatId: String(movedFrom) }, atMs, what: { kind: 'moved', to: chat.chatId } }
}

function happeningOf(message: Fields): BotChatEvent | null {
  const movedTo = message['migrate_to_chat_id']
  if (Number.isSafeInteger(movedTo)) return { kind: 'moved', to: String(movedTo) }
  const tells = (field: string) => message[field] !== undefined
  if (JOINS.some(tells)) return { kind: 'joined' }
  if (SERVICE_MESSAGES.some(tells)) return null
  const text = textOf(message['text'])
  const said: BotMessage = {
    text: text ?? textOf(message['caption']),
    button: null,
    buttonTitle: null,
    name: nameOf(fieldsOf(message['from'])),
    replyTo: integerOf(fieldsOf(message['reply_to_message'])?.['message_id']),
    media: mediaOf(message),
    location: locationOf(message),
    contacts: contactsOf(message),
  }
  return { kind: 'message', start: startOf(text), message: said }
}

/** Service messages that show that the bot is in a group, as when it is added. */
const JOINS = ['new_chat_members', 'group_chat_created', 'supergroup_chat_created'] as const

/**
 * Other service messages. They are no messages of a person: "the bot was removed from the group" must not count
 * as a message that ends the block, which comes as an update of its own. Source: https://core.telegram.org/bots/api#message.
 */
const SERVICE_MESSAGES = [
  'left_chat_member',
  'new_chat_title',
  'new_chat_photo',
  'delete_chat_photo',
  'channel_chat_created',
  'message_auto_delete_timer_changed',
  'pinned_message',
  'proximity_alert_triggered',
  'boost_added',
  'chat_background_set',
  'chat_owner_left',
  'chat_owner_changed',
  'community_chat_added',
  'community_chat_joined',
  'community_chat_removed',
  'connected_website',
  'write_access_allowed',
  'refunded_payment',
  'gift',
  'unique_gift',
  'gift_upgrade_sent',
  'checklist_tasks_done',
  'checklist_tasks_added',
  'poll_option_added',
  'poll_option_deleted',
  'paid_message_price_changed',
  'direct_message_price_changed',
  'suggested_post_approved',
  'suggested_post_approval_failed',
  'suggested_post_declined',
  'suggested_post_paid',
  'suggested_post_refunded',
  'forum_topic_created',
  'forum_topic_edited',
  'forum_topic_closed',
  'forum_topic_reopened',
  'general_forum_topic_hidden',
  'general_forum_topic_unhidden',
  'giveaway_created',
  'giveaway_completed',
  'video_chat_scheduled',
  'video_chat_started',
  'video_chat_ended',
  'video_chat_participants_invited',
] as const

/** `/start` with the payload of a `?start=` link; in groups the bot's name follows the command. */
function startOf(text: string | null): { payload: string | null } | null {
  const [found, payload = ''] = /^\/start(?:@\w+)?(?:\s+(\S.*))?$/su.exec(text ?? '') ?? []
  return found === undefined ? null : { payload: payload.trim() === '' ? null : payload.trim() }
}

function readButton(update: Fields): UpdateContent | null {
  const query = fieldsOf(update['callback_query'])
  const message = fieldsOf(query?.['message'])
  const chat = message && chatOf(message['chat'], query?.['from'])
  if (!query || !chat) return null
  const data = textOf(query['data'])
  const said: BotMessage = {
    text: titleOf(message, data),
    button: data,
    buttonTitle: titleOf(message, data),
    name: nameOf(fieldsOf(query['from'])),
    replyTo: integerOf(message['message_id']),
    media: [],
    location: null,
    contacts: [],
  }
  // The message is the one with the button: its date is not the time of the press.
  return { chat, atMs: null, what: { kind: 'message', start: null, message: said } }
}

/** The id of a button press, even where its message is missing because the bot cannot see it. */
function pressOf(update: Fields): string | null {
  const id = textOf(fieldsOf(update['callback_query'])?.['id'])
  return id !== null && id.length <= MAX_PRESS_LENGTH ? id : null
}

/** The button's label, looked up in the message that it belongs to. */
function titleOf(message: Fields, data: string | null): string | null {
  const rows = fieldsOf(message['reply_markup'])?.['inline_keyboard']
  const buttons = (Array.isArray(rows) ? rows.flat() : []).map(fieldsOf)
  return data === null ? null : textOf(buttons.find(each => each?.['callback_data'] === data)?.['text'])
}

function readMembership(update: Fields): UpdateContent | null {
  const member = fieldsOf(update['my_chat_member'])
  const chat = member && chatOf(member['chat'], member['from'])
  if (!member || !chat) return null
  const status = fieldsOf(member['new_chat_member'])?.['status']
  return { chat, atMs: timeOf(member['date']), what: entryOf(MEMBERSHIPS, textOf(status) ?? '') ?? null }
}

const MEMBERSHIPS: Readonly<Record<string, BotChatEvent>> = {
  kicked: { kind: 'blocked' },
  left: { kind: 'blocked' },
  member: { kind: 'returned' },
  administrator: { kind: 'returned' },
}

/** For a private chat the person's name; for a group its title, and the id of the author. */
function chatOf(chat: unknown, from: unknown): BotChat | null {
  const there = fieldsOf(chat)
  const person = fieldsOf(from)
  const chatId = integerOf(there?.['id'])
  if (!there || chatId === null) return null
  const userId = integerOf(person?.['id'])
  const isPrivate = there['type'] === 'private'
  const names = isPrivate ? (person ?? there) : there
  return {
    chatId: String(chatId),
    userId: userId === null ? null : String(userId),
    username: textOf(names['username']),
    firstName: textOf(isPrivate ? names['first_name'] : there['title']),
    lastName: isPrivate ? textOf(names['last_name']) : null,
  }
}

function nameOf(person: Fields | null): string | null {
  const names = [textOf(person?.['first_name']), textOf(person?.['last_name'])].filter(each => each !== null)
  return names.length === 0 ? null : names.join(' ')
}

const MEDIA: Readonly<Record<string, AttachmentType>> = {
  video: 'video',
  animation: 'video',
  video_note: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'document',
  sticker: 'image',
}

/** A photo comes in several sizes, the largest last. An animation is listed as a document as well. */
function mediaOf(message: Fields): BotMessage['media'] {
  const sizes = message['photo']
  const photo = Array.isArray(sizes) ? fieldsOf(sizes.at(-1)) : null
  if (photo) return [fileOf('image', { mime_type: 'image/jpeg', ...photo })]
  const kind = Object.keys(MEDIA).find(each => fieldsOf(message[each]))
  return kind === undefined ? [] : [fileOf(MEDIA[kind]!, fieldsOf(message[kind])!)]
}

function fileOf(type: AttachmentType, file: Fields): BotMessage['media'][number] {
  return {
    type,
    mimetype: textOf(file['mime_type']),
    fileName: textOf(file['file_name']),
    sizeBytes: integerOf(file['file_size']),
    reference: textOf(file['file_id']),
  }
}

/** A venue is listed as a location as well. For a live location this is its start: changes come as edits. */
function locationOf(message: Fields): InboundLocation | null {
  const venue = fieldsOf(message['venue'])
  const place = fieldsOf(message['location']) ?? fieldsOf(venue?.['location'])
  if (!place) return null
  return {
    latitude: degreesOf(place['latitude']),
    longitude: degreesOf(place['longitude']),
    name: textOf(venue?.['title']),
    address: textOf(venue?.['address']),
  }
}

function degreesOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN
}

function contactsOf(message: Fields): InboundCard[] {
  const contact = fieldsOf(message['contact'])
  if (!contact) return []
  const { phones, emails } = readVcard(textOf(contact['vcard']) ?? '', null)
  const userId = integerOf(contact['user_id'])
  const phone = textOf(contact['phone_number']) ?? ''
  // Telegram users' numbers are international, with or without a plus; other numbers are as they were typed.
  const known = numberOf(phone, userId === null ? null : phone)
  return [
    {
      id: userId === null ? null : String(userId),
      name: nameOf(contact),
      phones: [known, ...phones],
      emails,
    },
  ]
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function integerOf(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}

/** Telegram's times are seconds since the epoch. */
function timeOf(value: unknown): number | null {
  const seconds = integerOf(value)
  return seconds === null ? null : seconds * 1_000
}
