import type { Message } from '../../../../sdk/index.ts'
import { writeLink } from '../../parts/conversation.ts'
import type { Written } from '../send/draft.ts'

/**
 * The send page with this message filled in; null where its words are not kept. These go along in the
 * history: a server takes no address that is as long as they may be, nor should any log have them.
 */
export function resendLink(message: Message): { href: string; state: Written } | null {
  const { to, channel, messageType, text, subject, templateId, conversationContext } = message
  if (messageType === 'otp' || (text === null && templateId === null)) return null
  const query = new URLSearchParams({ to, channel, messageType })
  // An approved template is said by its name again: its words alone would be refused.
  if (templateId !== null && (text === null || channel === 'official_chatapp'))
    query.set('templateId', templateId)
  const state = {
    ...(text !== null && !query.has('templateId') && { text }),
    ...(subject !== null && { subject }),
  }
  const href = conversationContext === null ? `/send?${query}` : `${writeLink(conversationContext)}&${query}`
  return { href, state }
}
