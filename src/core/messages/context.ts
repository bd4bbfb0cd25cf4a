import type { Channel } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { MODULE_TYPES, SingleSendBody } from '../../contract/send.ts'

/** The conversation that a message belongs to, and the channel that this means. */
export type Context = NonNullable<SingleSendBody['conversationContext']> & { channel: Channel }

const CHANNEL_OF: Record<(typeof MODULE_TYPES)[number], Channel> = {
  chatapp_web: 'user_chatapp_session',
  chatapp_official: 'official_chatapp',
  botapp_bot: 'botapp_bot',
}

/** Reads conversationContext and holds it against channel and recipient. */
export function readContext(body: SingleSendBody): Context | null {
  const { conversationContext: given, channel } = body
  if (!given) {
    if (channel === 'botapp_bot') throw invalid('conversationContext', 'is required for channel botapp_bot')
    return null
  }
  const meant = CHANNEL_OF[given.moduleType]
  if (channel !== undefined && channel !== 'auto' && channel !== meant) {
    throw invalid(
      'conversationContext.moduleType',
      `${given.moduleType} belongs to channel ${meant}, not ${channel}`,
    )
  }
  const exact = meant === 'botapp_bot' || body.to.endsWith('@g.us') || given.chatId.endsWith('@g.us')
  if (exact && given.chatId !== body.to) {
    throw invalid('conversationContext.chatId', 'must be the same as to')
  }
  return { ...given, channel: meant }
}
