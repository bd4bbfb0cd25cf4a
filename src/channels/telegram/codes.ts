import { explainStatus } from '../http/verdict.ts'
import type { RejectCode } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import type { Refused } from './call.ts'

/**
 * What a refusal means for a message. The Bot API has few codes, and gives the rest as text, "subject
 * to change". So the text only decides whose fault it was, never whether the message was taken.
 * Source: https://core.telegram.org/bots/api#making-requests.
 */
export type Meaning = { code: RejectCode; text: string }

const MESSAGE: Meaning = { code: 'MESSAGE_REJECTED', text: 'Telegram refuses the message' }
const RECIPIENT: Meaning = {
  code: 'RECIPIENT_REJECTED',
  text: 'Telegram does not let the bot write to this chat',
}

/** Texts of a 400, by whose fault it is. */
const CHAT_FAULTS =
  /chat not found|user not found|peer_id_invalid|chat_id is empty|group chat was (?:deleted|upgraded)|rights|not a member|need administrator|chat_write_forbidden|user_is_blocked|input_user_deactivated/i

const TEXTS: Readonly<Record<string, string>> = {
  '400': 'The request is not valid, or there is no such chat.',
  '401': 'The bot’s token is no longer valid.',
  '403': 'The person has blocked the bot, has left, or never started it; or the group has removed it.',
  '404': 'The bot’s token is no longer valid.',
  '413': 'The file is larger than Telegram accepts.',
  '420': 'Too many messages.',
  '429': 'Too many messages.',
}

export function explainCode(code: string): string | null {
  return entryOf(TEXTS, code) ?? explainStatus(code)
}

/** The meaning of a final refusal; null for others. */
export function meaningOf({ code, description }: Refused): Meaning | null {
  if (code === 403) return { code: 'RECIPIENT_REJECTED', text: TEXTS['403']!.slice(0, -1) }
  if (code === 400 && CHAT_FAULTS.test(description)) return RECIPIENT
  return code >= 400 && code < 500 ? MESSAGE : null
}

/** The token is not valid: an unknown token is 401; a token in a wrong form makes the path unknown, which is 404. */
export function isUnauthorized({ code }: Refused): boolean {
  return code === 401 || code === 404
}

export function isThrottle({ code }: Refused): boolean {
  return code === 429 || code === 420
}
