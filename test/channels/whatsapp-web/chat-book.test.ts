import { expect, test } from 'vitest'
import type { SessionChat } from '../../../src/channels/shared/session.ts'
import { createChatBook } from '../../../src/channels/whatsapp-web/chat-book.ts'

test('the chats of one update are all reported, 1,000 at a time', () => {
  const reported: (readonly SessionChat[])[] = []
  const book = createChatBook({ reportChats: chats => void reported.push(chats) })
  const ids = Array.from({ length: 2_500 }, (_, at) => `1203630000000${10_000 + at}@g.us`)
  book.groups(ids.map(id => ({ id, subject: 'A group' })))
  expect(reported.flat().map(({ chatId }) => chatId)).toEqual(ids)
  expect(reported.map(piece => piece.length)).toEqual([1_000, 1_000, 500])
  reported.length = 0
  book.chats([{ id: 'status@broadcast' }])
  expect(reported).toEqual([])
})
