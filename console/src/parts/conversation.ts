import type { ConversationContext, ConversationView } from '../../../sdk/index.ts'

const NAMES = ['moduleType', 'accountId', 'chatId', 'contactId', 'conversationKey'] as const

/** The send page, about to write into this conversation. */
export function writeLink(conversation: ConversationView | ConversationContext): string {
  const query = new URLSearchParams({ to: conversation.chatId })
  for (const name of NAMES) {
    const value = conversation[name]
    if (value !== undefined && value !== null) query.set(name, value)
  }
  return `/send?${query}`
}

/** The conversation that such a link names; null where it names none. */
export function conversationFrom(given: URLSearchParams): ConversationContext | null {
  const [moduleType, accountId, chatId] = NAMES.map(name => given.get(name))
  if (!moduleType || !accountId || !chatId) return null
  const found = NAMES.flatMap(name => {
    const value = given.get(name)
    return value === null ? [] : [[name, value]]
  })
  return Object.fromEntries(found) as ConversationContext
}
