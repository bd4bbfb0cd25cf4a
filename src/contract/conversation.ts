import { type Static, Type } from 'typebox'
import type { Channel } from './enums.ts'
import { nullable, oneOf } from './envelope.ts'

export const MODULE_TYPES = ['chatapp_web', 'chatapp_official', 'botapp_bot'] as const
export type ModuleType = (typeof MODULE_TYPES)[number]

/** The channel that a conversation of each kind is held over. */
export const CHANNEL_OF_MODULE: Readonly<Record<ModuleType, Channel>> = {
  chatapp_web: 'user_chatapp_session',
  chatapp_official: 'official_chatapp',
  botapp_bot: 'botapp_bot',
}

/** The kind of conversation that a channel holds; null where it holds none. */
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

/** Names a conversation: the same for whatever is sent and received in it. */
export type ConversationPlace = {
  moduleType: ModuleType
  /** Session name, official sender id or bot id. */
  accountId: string
  chatId: string
}

/**
 * The key of a conversation that nobody gave one: `moduleType:accountId:chatId`. A person on the chat
 * app is the same in each spelling of their number.
 */
export function conversationKeyOf({ moduleType, accountId, chatId }: ConversationPlace): string {
  const chat = moduleType === 'botapp_bot' ? chatId : (numberOfChat(chatId) ?? chatId)
  return `${moduleType}:${accountId}:${chat}`
}

/** E.164 of a chat with one person: a number in any spelling, or the chat app's id of it; null for groups and the like. */
export function numberOfChat(chatId: string): string | null {
  const [, user = ''] = /^([^@]*)(?:@(?:s\.whatsapp\.net|c\.us))?$/.exec(chatId) ?? []
  const digits = user.replace(/[\s().-]/g, '').replace(/^\+/, '')
  return /^\d{5,15}$/.test(digits) ? `+${digits}` : null
}
