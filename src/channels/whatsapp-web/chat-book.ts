import type { Chat, Contact, GroupMetadata } from 'baileys'
import type { InboundMessage } from '../../contract/reported-message.ts'
import type { SessionChat, SessionIo } from '../shared/session.ts'
import { isGroup, phoneOf } from './jid.ts'
import { timeOf } from './time.ts'

/** Chats stored in one call: the library passes a history in pieces of any size, and all groups at once. */
const MAX_AT_ONCE = 1_000

export type ChatBook = ReturnType<typeof createChatBook>

/** Reports the chats of a session: from its history, its groups, and the authors of messages. */
export function createChatBook({ reportChats }: Pick<SessionIo, 'reportChats'>) {
  function report(chats: readonly (SessionChat | null)[]): void {
    const known = chats.filter(chat => chat !== null)
    for (let from = 0; from < known.length; from += MAX_AT_ONCE)
      reportChats(known.slice(from, from + MAX_AT_ONCE))
  }

  return {
    chats: (chats: readonly Partial<Chat>[]) =>
      report(
        chats.map(({ id, name, conversationTimestamp }) => entry(id, name, timeOf(conversationTimestamp))),
      ),
    contacts: (contacts: readonly Partial<Contact>[]) =>
      report(
        contacts.map(({ id, name, notify }) => (name || notify ? entry(id, name ?? notify, null) : null)),
      ),
    groups: (groups: readonly Pick<GroupMetadata, 'id' | 'subject'>[]) =>
      report(groups.map(({ id, subject }) => entry(id, subject, null))),
    received: (messages: readonly InboundMessage[]) =>
      report(
        messages.map(({ chatId, from, contact, atMs }) =>
          chatId === undefined
            ? from.startsWith('+')
              ? { chatId: from, kind: 'user', name: contact?.name ?? null, lastMessageAtMs: atMs }
              : null
            : { chatId, kind: 'group', name: null, lastMessageAtMs: atMs },
        ),
      ),
  }
}

/** Null for chats that have no address to send to: broadcasts, channels, people without a known number. */
function entry(
  jid: string | null | undefined,
  name: string | null | undefined,
  lastMessageAtMs: number | null,
): SessionChat | null {
  const phone = phoneOf(jid)
  if (phone === null && !isGroup(jid ?? '')) return null
  return {
    chatId: phone ?? jid!,
    kind: phone === null ? 'group' : 'user',
    name: name || null,
    lastMessageAtMs,
  }
}
