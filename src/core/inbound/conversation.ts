import { conversationKeyOf, moduleOf } from '../../contract/conversation.ts'
import { PLATFORM_SENDER } from '../../contract/template.ts'
import type { Owner } from '../consent/store.ts'
import type { ReceivedMessage } from './received.ts'
import type { Conversation } from './store.ts'

/** The conversationContext by which a send answers a message; null where its channel has none. */
export function conversationOf(
  {
    channel,
    connectionId,
    from,
    to,
    chatId,
  }: Pick<ReceivedMessage, 'channel' | 'connectionId' | 'from' | 'to' | 'chatId'>,
  { ownsConnection }: Pick<Owner, 'ownsConnection'>,
): Conversation | null {
  const moduleType = moduleOf(channel)
  if (moduleType === null) return null
  // An author who shows only an id, not a number, cannot be answered, and neither can a group.
  if (moduleType === 'chatapp_official' && (chatId !== null || !from.startsWith('+'))) return null
  const official = ownsConnection ? connectionId : PLATFORM_SENDER
  const place = {
    moduleType,
    accountId: moduleType === 'chatapp_official' ? official : to,
    chatId: chatId ?? from,
  }
  return { accountId: place.accountId, chatId: place.chatId, key: conversationKeyOf(place) }
}
