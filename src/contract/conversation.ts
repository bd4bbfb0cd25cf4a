import { type Static, Type } from 'typebox'
import { comparablePhone } from '../lib/phone.ts'
import type { Channel } from './enums.ts'
import { nullable, oneOf } from './envelope.ts'

export const MODULE_TYPES = ['chatapp_web', 'chatapp_official', 'botapp_bot'] as const
export type ModuleType = (typeof MODULE_TYPES)[number]

/** The channel of each kind of conversation. */
export const CHANNEL_OF_MODULE: Readonly<Record<ModuleType, Channel>> = {
  chatapp_web: 'user_chatapp_session',
  chatapp_official: 'official_chatapp',
  botapp_bot: 'botapp_bot',
}

/** The kind of conversation of a channel; null if it has none. */
export function moduleOf(channel: Channel): ModuleType | null {
  return MODULE_TYPES.find(each => CHANNEL_OF_MODULE[each] === channel) ?? null
}

/** A conversation as messages show it: ready to be used as the `conversationContext` of a send. */
export const ConversationView = Type.Object({
  moduleType: oneOf(MODULE_TYPES),
  accountId: Type.String({ description: 'Session name, official sender id or bot id' }),
  chatId: Type.String(),
  contactId: nullable(Type.String()),
  conversationKey: nullable(Type.String()),
})
export type ConversationView = Static<typeof ConversationView>

/** Identifies a conversation, the same for sent and received messages. */
export type ConversationId = {
  moduleType: ModuleType
  /** Session name, official sender id or bot id. */
  accountId: string
  chatId: string
}

/**
 * The default key of a conversation: `moduleType:accountId:chatId`. On the chat app, all spellings of a
 * person's number give the same key, also both forms of a mobile that is written in two.
 */
export function conversationKeyOf({ moduleType, accountId, chatId }: ConversationId): string {
  const chat = moduleType === 'botapp_bot' ? chatId : comparablePhone(numberOfChat(chatId) ?? chatId)
  return `${moduleType}:${accountId}:${chat}`
}

/**
 * The E.164 number of a chat with one person, from a number in any spelling or the chat app's id; null for
 * groups and the like.
 */
export function numberOfChat(chatId: string): string | null {
  const [, user = ''] = /^([^@]*)(?:@(?:s\.whatsapp\.net|c\.us))?$/.exec(chatId) ?? []
  const digits = user.replace(/[\s().-]/g, '').replace(/^\+/, '')
  return /^\d{5,15}$/.test(digits) ? `+${digits}` : null
}
