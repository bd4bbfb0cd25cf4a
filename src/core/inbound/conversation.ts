import { conversationKeyOf, moduleOf } from '../../contract/conversation.ts'
import { PLATFORM_SENDER } from '../../contract/template.ts'
import type { Owner } from '../consent/store.ts'
import type { Conversation } from './store.ts'
import type { Told } from './told.ts'

/** The conversation that a message belongs to, such that a send with it answers; null where its channel has none. */
export function conversationOf(
  {
    channel,
    connectionId,
    from,
    to,
    chatId,
  }: Pick<Told, 'channel' | 'connectionId' | 'from' | 'to' | 'chatId'>,
  { ownsConnection }: Pick<Owner, 'ownsConnection'>,
): Conversation | null {
  const moduleType = moduleOf(channel)
  if (moduleType === null) return null
  // Somebody who shows the sender only an id can be answered by nobody.
  if (moduleType === 'chatapp_official' && !from.startsWith('+')) return null
  const official = ownsConnection ? connectionId : PLATFORM_SENDER
  const place = {
    moduleType,
    accountId: moduleType === 'chatapp_official' ? official : to,
    chatId: chatId ?? from,
  }
  return { accountId: place.accountId, chatId: place.chatId, key: conversationKeyOf(place) }
}
