import type { ConversationContext, ConversationView } from '../../../sdk/index.ts'

const NAMES = ['moduleType', 'accountId', 'chatId', 'contactId', 'conversationKey'] as const

/** A link to the send page for a message in this conversation. */
export function writeLink(conversation: ConversationView | ConversationContext): string {
  const query = new URLSearchParams({ to: conversation.chatId })
  for (const name of NAMES) {
    const value = conversation[name]
    if (value !== undefined && value !== null) query.set(name, value)
  }
  return `/send?${query}`
}

/** The conversation of such a link; null without one. */
export function conversationFrom(given: URLSearchParams): ConversationContext | null {
  const [moduleType, accountId, chatId] = NAMES.map(name => given.get(name))
  if (!moduleType || !accountId || !chatId) return null
  const found = NAMES.flatMap(name => {
    const value = given.get(name)
    return value === null ? [] : [[name, value]]
  })
  return Object.fromEntries(found) as ConversationContext
}
