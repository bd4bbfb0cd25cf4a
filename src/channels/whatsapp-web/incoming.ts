import type { Inbound } from '../provider.ts'
import type { SessionIo } from '../shared/session.ts'
import type { AuthState } from './auth-state.ts'
import type { ChatBook } from './chat-book.ts'
import { readInbound } from './inbound.ts'
import type { Baileys } from './library.ts'
import type { LineEvents } from './line.ts'
import { readReceipts } from './receipts.ts'

export type IncomingEvents = Omit<LineEvents, 'qrShown' | 'queryRefused' | 'opened' | 'keysNotStored'>

/** Handles all that comes in over a line: messages, receipts, chats. */
export function createIncoming(
  baileys: Baileys,
  { creds }: AuthState,
  io: SessionIo,
  book: ChatBook,
): IncomingEvents {
  function keep(inbound: readonly Inbound[]): void {
    if (inbound.length === 0) return
    void io.emit(inbound).catch(error => {
      io.log.warn(
        { err: error, items: inbound.length },
        'messages or receipts that a web session received could not be stored',
      )
    })
  }

  return {
    acceptedUnlinked({ attrs }) {
      const digits = io.askedPhone?.slice(1) ?? attrs['lid']?.split('@')[0] ?? '0'
      creds.me = { id: `${digits}@s.whatsapp.net`, name: '~' }
      // A device that was never linked gets no history, so the library must not wait for one.
      creds.accountSyncCounter = 1
    },
    receipt: node => keep(readReceipts(node)),
    messages(messages) {
      const inbound = messages.flatMap(message => readInbound(baileys, message, io) ?? [])
      keep(inbound)
      book.received(inbound)
    },
    chats: book.chats,
    contacts: book.contacts,
    groups: book.groups,
  }
}
