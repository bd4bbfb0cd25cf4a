import { CHANNEL_OF_MODULE, numberOfChat } from '../../contract/conversation.ts'
import type { Channel } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { comparablePhone } from '../../lib/phone.ts'

/** The conversation that a message belongs to, and the channel that follows from it. */
export type Context = NonNullable<SingleSendBody['conversationContext']> & { channel: Channel }

/** Reads conversationContext. Throws a 400 if it contradicts the channel or the recipient. */
export function readContext(body: SingleSendBody): Context | null {
  const { conversationContext: given, channel } = body
  if (!given) {
    if (channel === 'botapp_bot') throw invalid('conversationContext', 'is required for channel botapp_bot')
    return null
  }
  const meant = CHANNEL_OF_MODULE[given.moduleType]
  if (channel !== undefined && channel !== 'auto' && channel !== meant) {
    throw invalid(
      'conversationContext.moduleType',
      `${given.moduleType} belongs to channel ${meant}, not ${channel}`,
    )
  }
  if (!isSameChat(body.to, given.chatId, meant)) {
    throw invalid('conversationContext.chatId', 'must be the same as to')
  }
  return { ...given, channel: meant }
}

/** On the chat app a person is addressed by a number, in any spelling, or by an id that hides it. */
function isSameChat(to: string, chatId: string, channel: Channel): boolean {
  if (to === chatId) return true
  if (channel === 'botapp_bot') return false
  const [one, other] = [numberOfChat(to), numberOfChat(chatId)]
  if (one !== null && other !== null) return comparablePhone(one) === comparablePhone(other)
  return channel === 'user_chatapp_session' && one !== null && chatId.endsWith('@lid')
}
