import { explainStatus, type Meanings } from '../http/verdict.ts'
import { entryOf } from '../shared/table.ts'

/** Groups of statuses: what a message's status is, in an answer and in a report. */
export const GROUP = {
  accepted: 0,
  pending: 1,
  undeliverable: 2,
  delivered: 3,
  expired: 4,
  rejected: 5,
} as const

/** Infobip has a message with this id already. */
export const DUPLICATE = 23

/**
 * Statuses that refuse a message at once, by their id. Source: Infobip's message status codes,
 * https://www.infobip.com/docs/developer-resources/api-fundamentals/message-status-codes.
 */
export const STATUS_CODES: Meanings = {
  '6': { means: 'operator', text: 'The Infobip account may not send to this network.' },
  '8': { means: 'recipient', text: 'The number’s prefix is not known.' },
  '10': { means: 'recipient', text: 'The recipient is on a do-not-disturb list.' },
  '11': { means: 'sender', text: 'The sender is not allowed.' },
  '12': { means: 'operator', text: 'The Infobip account has not enough credit.' },
  '13': { means: 'sender', text: 'The sender is blocked.' },
  '14': { means: 'recipient', text: 'The recipient is blocked.' },
  '16': { means: 'operator', text: 'The Infobip account has no route to this network.' },
  '17': { means: 'operator', text: 'The prepaid package of the Infobip account has expired.' },
  '18': { means: 'recipient', text: 'A trial account may only send to its own numbers.' },
  '19': { means: 'operator', text: 'The Infobip account has no route for this message.' },
  '20': { means: 'message', text: 'The same message went to this number too often.' },
  '21': { means: 'later', text: 'Infobip failed while it processed the message.' },
  '23': { means: 'message', text: 'Infobip already has a message with this id.' },
  '24': { means: 'message', text: 'The message’s user data header is not valid.' },
  '25': { means: 'message', text: 'The message is too long.' },
  '51': { means: 'recipient', text: 'The message names no recipient.' },
  '52': { means: 'recipient', text: 'The recipient is not a valid number.' },
  '87': { means: 'message', text: 'Infobip’s protection against fraud blocks the message.' },
}

/** What a refusal means by a status that is not listed. */
export const REFUSED = { means: 'message', text: 'Infobip refuses the message.' } as const

/** Why a message did not arrive: the `error.name` of reports. */
const ERROR_NAMES: Readonly<Record<string, string>> = {
  EC_UNKNOWN_SUBSCRIBER: 'The network does not know the number.',
  EC_ILLEGAL_SUBSCRIBER: 'The network refuses the subscriber.',
  EC_ABSENT_SUBSCRIBER: 'The handset is switched off or out of reach.',
  EC_ABSENT_SUBSCRIBER_SM: 'The handset is switched off or out of reach.',
  EC_CALL_BARRED: 'The subscriber is barred from receiving messages.',
  EC_SUBSCRIBER_BUSY_FOR_MT_SMS: 'The handset is busy.',
  EC_SM_DELIVERY_FAILURE: 'The handset did not accept the message.',
  EC_MESSAGE_WAITING_LIST_FULL: 'Too many messages wait for the handset.',
  EC_SYSTEM_FAILURE: 'The network failed.',
  EC_DEST_ADDRESS_BLACKLISTED: 'The number is on a block list.',
}

export function explainCode(code: string): string | null {
  return entryOf(STATUS_CODES, code)?.text ?? entryOf(ERROR_NAMES, code) ?? explainStatus(code)
}
