import { isSms } from '../../contract/enums.ts'
import type { Phones } from '../../lib/phone.ts'
import { type Keyword, readChatKeyword, readKeyword } from '../consent/keywords.ts'
import { reaches, readRecipient } from '../routing/recipient.ts'
import type { ReceivedMessage } from './received.ts'
import type { InboundRow } from './store.ts'

/**
 * The keyword in a message. In a chat, a button counts as its text does. In a
 * group there is none: nobody can opt out for the others.
 */
export function keywordOf({
  channel,
  from,
  chatId,
  text,
  button,
}: Pick<ReceivedMessage, 'channel' | 'from' | 'chatId' | 'text' | 'button'>): Keyword | null {
  if (isSms(channel)) return readKeyword(text)
  if ((chatId !== null && chatId !== from) || from.startsWith('-')) return null
  return readChatKeyword(text) ?? readChatKeyword(button)
}

/** Whether the author can be answered: only then does an opt-out matter. A bot's groups have negative ids. */
export function mayBeAnswered(
  { channel, from }: Pick<InboundRow, 'channel' | 'from'>,
  phones: Phones,
): boolean {
  const recipient = readRecipient(from, phones)
  if (!recipient || !reaches(channel, recipient)) return false
  return recipient.kind !== 'chat' || /^[0-9]/.test(from)
}
