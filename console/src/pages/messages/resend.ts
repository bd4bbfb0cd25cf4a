import type { Message } from '../../../../sdk/index.ts'
import { writeLink } from '../../parts/conversation.ts'

/** The send page with this message filled in; null where its words are not kept. */
export function resendLink(message: Message): string | null {
  const { to, channel, messageType, text, subject, templateId, conversationContext } = message
  if (messageType === 'otp' || (text === null && templateId === null)) return null
  const query = new URLSearchParams({ to, channel, messageType })
  // An approved template is said by its name again: its words alone would be refused.
  if (templateId !== null && (text === null || channel === 'official_chatapp'))
    query.set('templateId', templateId)
  else if (text !== null) query.set('text', text)
  if (subject !== null) query.set('subject', subject)
  return conversationContext === null ? `/send?${query}` : `${writeLink(conversationContext)}&${query}`
}
