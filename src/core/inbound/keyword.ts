import { isSms } from '../../contract/enums.ts'
import type { Phones } from '../../lib/phone.ts'
import { type Keyword, readChatKeyword, readKeyword } from '../consent/keywords.ts'
import type { InboundRow } from './store.ts'
import type { Told } from './told.ts'

/** A chat with one person: groups have ids below zero. */
const PRIVATE_BOT_CHAT = /^\d{1,20}$/

/**
 * What a message says of marketing to its sender. In a chat a button says it as well as words do; in a
 * group nobody speaks for the others, and what is said there ends nothing.
 */
export function keywordOf({
  channel,
  from,
  chatId,
  text,
  button,
}: Pick<Told, 'channel' | 'from' | 'chatId' | 'text' | 'button'>): Keyword | null {
  if (isSms(channel)) return readKeyword(text)
  if (chatId !== null && chatId !== from) return null
  return readChatKeyword(text) ?? readChatKeyword(button)
}

/** Whether the sender could be written to: only then has what they decide an effect. */
export function mayBeAnswered(
  { channel, from }: Pick<InboundRow, 'channel' | 'from'>,
  phones: Phones,
): boolean {
  return channel === 'botapp_bot' ? PRIVATE_BOT_CHAT.test(from) : phones.parse(from)?.possible === true
}
