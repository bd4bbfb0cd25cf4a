import { expect, test } from 'vitest'
import type { SessionChat } from '../../../src/channels/shared/session.ts'
import { createChatBook } from '../../../src/channels/whatsapp-web/chat-book.ts'

test('all chats of one word are told, however many, in pieces', () => {
  const told: (readonly SessionChat[])[] = []
  const book = createChatBook({ reportChats: chats => void told.push(chats) })
  const ids = Array.from({ length: 2_500 }, (_, at) => `1203630000000${10_000 + at}@g.us`)
  book.groups(ids.map(id => ({ id, subject: 'A group' })))
  expect(told.flat().map(({ chatId }) => chatId)).toEqual(ids)
  expect(told.map(piece => piece.length)).toEqual([1_000, 1_000, 500])
  told.length = 0
  book.chats([{ id: 'status@broadcast' }])
  expect(told).toEqual([])
})
