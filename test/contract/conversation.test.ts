import { describe, expect, test } from 'vitest'
import {
  CHANNEL_OF_MODULE,
  conversationKeyOf,
  MODULE_TYPES,
  moduleOf,
  numberOfChat,
} from '../../src/contract/conversation.ts'
import { CHANNELS } from '../../src/contract/enums.ts'

test('each module has its own channel, and other channels belong to no module', () => {
  expect(MODULE_TYPES.map(each => moduleOf(CHANNEL_OF_MODULE[each]))).toEqual([...MODULE_TYPES])
  expect(CHANNELS.filter(each => moduleOf(each) === null)).toEqual(['local_sms', 'int_sms', 'email_user'])
})

describe('the key of a conversation', () => {
  const web = (chatId: string) => conversationKeyOf({ moduleType: 'chatapp_web', accountId: 'main', chatId })

  test('is the same for every spelling of a phone number', () => {
    const spellings = [
      '+447700900123',
      '447700900123',
      '+44 7700 900-123',
      '447700900123@s.whatsapp.net',
      '447700900123@c.us',
    ]
    expect(new Set(spellings.map(web))).toEqual(new Set(['chatapp_web:main:+447700900123']))
  })

  test.each([
    ['Mexican', '5215512345678', '+525512345678'],
    ['Brazilian', '553187654321', '+5531987654321'],
    ['Argentine', '5491123456789', '+541123456789'],
  ])('is the same for both forms of a %s mobile', (_, given, other) => {
    expect(web(given)).toBe(web(other))
  })

  test('uses the chat id unchanged for a group, a hidden person or a bot', () => {
    expect(web('1234-5678@g.us')).toBe('chatapp_web:main:1234-5678@g.us')
    expect(web('99887766@lid')).toBe('chatapp_web:main:99887766@lid')
    const chat = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000004' } as const
    expect(conversationKeyOf(chat)).toBe('botapp_bot:bot_1:7000000004')
  })
})

test.each([
  '1234@g.us',
  '@s.whatsapp.net',
  '',
  '+',
  '1234',
  '1'.repeat(16),
  '447700900123@example.com',
  '447700900123:2@s.whatsapp.net',
])('numberOfChat() returns null for %s', chatId => expect(numberOfChat(chatId)).toBeNull())
