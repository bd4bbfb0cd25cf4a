import { explainStatus, type Meanings } from '../http/verdict.ts'
import { entryOf } from '../shared/table.ts'

/** Delay of the next try when the sender's queue at Twilio is full, which means hours of messages. */
const FULL_QUEUE_MS = 60_000

/**
 * Error codes in the answer to a new message. Source: Twilio's error dictionary,
 * https://www.twilio.com/docs/api/errors. For other codes the HTTP status decides.
 */
export const SUBMIT_CODES: Meanings = {
  '20003': { means: 'operator', text: 'Twilio refuses the credentials, or the account is suspended.' },
  '20005': { means: 'operator', text: 'The Twilio account is not active.' },
  '20008': { means: 'operator', text: 'Test credentials cannot use this resource of Twilio.' },
  '20404': { means: 'operator', text: 'Twilio knows no such account.' },
  '20429': { means: 'throttled', text: 'Too many requests at once for the Twilio account.' },
  '21211': { means: 'recipient', text: 'The recipient is not a valid phone number.' },
  '21212': { means: 'sender', text: 'The sender is not a valid number or sender id.' },
  '21217': { means: 'recipient', text: 'The recipient does not appear to be a valid phone number.' },
  '21265': { means: 'recipient', text: 'The recipient is a short code.' },
  '21266': { means: 'recipient', text: 'Recipient and sender are the same.' },
  '21267': { means: 'recipient', text: 'The recipient is a name, not a number.' },
  '21408': { means: 'recipient', text: 'The account has no permission to send to this region.' },
  '21601': { means: 'sender', text: 'The sender is not a number of the account.' },
  '21602': { means: 'message', text: 'The message has no text.' },
  '21603': { means: 'sender', text: 'The message names no sender.' },
  '21604': { means: 'recipient', text: 'The message names no recipient.' },
  '21606': { means: 'sender', text: 'The sender cannot send to this recipient, or is not the account’s.' },
  '21607': { means: 'sender', text: 'A trial account may only send from its trial number.' },
  '21608': { means: 'recipient', text: 'A trial account may only send to verified numbers.' },
  '21609': {
    means: 'operator',
    text: 'Twilio does not accept the URL for receipts (POSTHORN_PUBLIC_URL).',
  },
  '21610': { means: 'opted_out', text: 'The recipient has unsubscribed from this sender.' },
  '21611': {
    means: 'later',
    text: 'The queue of this sender is full.',
    afterMs: FULL_QUEUE_MS,
    fault: 'sender',
  },
  '21612': { means: 'recipient', text: 'The recipient cannot be reached from this sender.' },
  '21614': { means: 'recipient', text: 'The recipient is not a mobile number.' },
  '21617': { means: 'message', text: 'The text is longer than 1600 characters.' },
  '21619': { means: 'message', text: 'The message has no content.' },
  '21635': { means: 'recipient', text: 'The recipient is a landline.' },
  '21659': {
    means: 'sender',
    text: 'The sender is not a Twilio number, or is a short code of another country.',
  },
  '21660': { means: 'sender', text: 'The sender belongs to another account.' },
  '21661': { means: 'sender', text: 'The sender cannot send SMS.' },
  '21701': { means: 'operator', text: 'There is no such Messaging Service.' },
  '21703': { means: 'operator', text: 'The Messaging Service has no sender for this recipient.' },
  '21704': { means: 'operator', text: 'The Messaging Service has no phone numbers.' },
  '21705': { means: 'operator', text: 'The Messaging Service is not valid.' },
  '63038': { means: 'operator', text: 'The account has sent all messages that it may send in a day.' },
}

/** Why a message that was taken did not arrive: the ErrorCode of receipts. */
const DELIVERY_CODES: Readonly<Record<string, string>> = {
  '30001': 'Messages were sent faster than Twilio could pass them on.',
  '30002': 'The account was suspended before the message went out.',
  '30003': 'The handset is switched off, out of reach, or cannot take SMS.',
  '30004': 'The recipient or its carrier blocks the message.',
  '30005': 'The number is unknown, or out of service.',
  '30006': 'The number is a landline, or its carrier cannot be reached.',
  '30007': 'The carrier or Twilio filtered the message.',
  '30008': 'The carrier gave no reason.',
  '30022': 'The US carriers’ rate limit of the registered campaign was exceeded.',
  '30023': 'The US carriers’ daily limit of the registered brand is reached.',
  '30024': 'The carrier requires a registered number, and the sender is not registered with it (yet).',
  '30032': 'The sender is a toll-free number that has not been verified.',
  '30034': 'The sender is a US number that is not registered for business messages (A2P 10DLC).',
  '30036': 'The message waited at Twilio for longer than its validity period.',
  '30410': 'The carrier did not answer Twilio in time.',
  '30450': 'Twilio blocks the number for some minutes, since it suspects SMS pumping.',
  '30500': 'Twilio failed while it processed the message.',
}

export function explainCode(code: string): string | null {
  return entryOf(DELIVERY_CODES, code) ?? entryOf(SUBMIT_CODES, code)?.text ?? explainStatus(code)
}
