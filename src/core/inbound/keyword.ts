import { isSms } from '../../contract/enums.ts'
import type { Phones } from '../../lib/phone.ts'
import { type Keyword, readChatKeyword, readKeyword } from '../consent/keywords.ts'
import { reaches, readRecipient } from '../routing/recipient.ts'
import type { InboundRow } from './store.ts'
import type { Told } from './told.ts'

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
  if ((chatId !== null && chatId !== from) || from.startsWith('-')) return null
  return readChatKeyword(text) ?? readChatKeyword(button)
}

/** Whether the sender could be written to: only then has what they decide an effect. Groups of bots have ids below zero. */
export function mayBeAnswered(
  { channel, from }: Pick<InboundRow, 'channel' | 'from'>,
  phones: Phones,
): boolean {
  const recipient = readRecipient(from, phones)
  if (!recipient || !reaches(channel, recipient)) return false
  return recipient.kind !== 'chat' || /^[0-9]/.test(from)
}
