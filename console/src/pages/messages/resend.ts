import type { Message } from '../../../../sdk/index.ts'
import { writeLink } from '../../parts/conversation.ts'
import type { PrefilledText } from '../send/draft.ts'

/**
 * A link to the send page with this message filled in; null if its text is not kept. Text and subject are in
 * the history state: they may be too long for a URL, and must not be in any server's log.
 */
export function resendLink(message: Message): { href: string; state: PrefilledText } | null {
  const { to, channel, messageType, text, subject, templateId, conversationContext } = message
  if (messageType === 'otp' || (text === null && templateId === null)) return null
  const query = new URLSearchParams({ to, channel, messageType })
  // An approved template is used by its id: its text alone would be refused.
  if (templateId !== null && (text === null || channel === 'official_chatapp'))
    query.set('templateId', templateId)
  const state = {
    ...(text !== null && !query.has('templateId') && { text }),
    ...(subject !== null && { subject }),
  }
  const href = conversationContext === null ? `/send?${query}` : `${writeLink(conversationContext)}&${query}`
  return { href, state }
}
