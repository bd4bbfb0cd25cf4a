import { explainStatus, type Meanings } from '../http/verdict.ts'
import { entryOf } from '../shared/table.ts'

/**
 * The status of each part in an answer of the SMS API; 0 is success, anything else means
 * that the part was not taken. Source: https://developer.vonage.com/en/api-errors/sms.
 */
export const SUBMIT_CODES: Meanings = {
  '1': { means: 'throttled', text: 'Messages are sent faster than the Vonage account may.' },
  '2': { means: 'message', text: 'A field that Vonage needs is missing.' },
  '3': { means: 'message', text: 'A field has a value that Vonage does not accept.' },
  '4': { means: 'operator', text: 'Vonage refuses the credentials.' },
  '5': { means: 'later', text: 'Vonage failed while it processed the message.' },
  '6': {
    means: 'recipient',
    text: 'Vonage cannot route the message: mostly an unknown prefix of the number.',
  },
  '7': { means: 'recipient', text: 'The number is barred from receiving messages.' },
  '8': { means: 'operator', text: 'The Vonage account is suspended.' },
  '9': { means: 'operator', text: 'The Vonage account has not enough credit.' },
  '10': { means: 'throttled', text: 'Too many connections at once for the Vonage account.' },
  '11': { means: 'operator', text: 'The Vonage account is not enabled for this API.' },
  '12': { means: 'message', text: 'The message is too long.' },
  '14': { means: 'operator', text: 'Vonage refuses the signature.' },
  '15': { means: 'sender', text: 'The sender is not allowed.' },
  '22': { means: 'recipient', text: 'The network code of the recipient is not valid.' },
  '23': { means: 'operator', text: 'Vonage does not accept the URL for receipts (POSTHORN_PUBLIC_URL).' },
  '29': { means: 'recipient', text: 'A trial account may only send to numbers of its list.' },
  '32': { means: 'operator', text: 'Vonage accepts either a signature or a secret, not both.' },
  '33': { means: 'recipient', text: 'The number is switched off.' },
}

/** The `err-code` of receipts. Source: the SMS API’s guide to delivery receipts. */
const DELIVERY_CODES: Readonly<Record<string, string>> = {
  '1': 'No reason is known.',
  '2': 'The handset is out of reach or switched off.',
  '3': 'The number is no longer in use.',
  '4': 'The subscriber has blocked messages.',
  '5': 'The number was moved to another network and cannot be found.',
  '6': 'The carrier considers the message spam.',
  '7': 'The handset is busy.',
  '8': 'The network failed.',
  '9': 'The number is on a block list of the carrier, or has opted out.',
  '10': 'The message is not well-formed.',
  '11': 'No route leads to this number.',
  '12': 'The destination cannot be reached.',
  '13': 'The subscriber is too young for this message.',
  '14': 'The carrier has blocked the number.',
  '15': 'The subscriber’s prepaid credit is used up.',
  '50': 'The entity is blocked.',
  '99': 'The carrier gave no reason.',
}

/** Receipt codes get the prefix `dlr-`, since the same numbers mean other things in an answer. */
export function receiptCode(code: string): string {
  return `dlr-${code}`
}

export function explainCode(code: string): string | null {
  if (code.startsWith('dlr-')) return entryOf(DELIVERY_CODES, code.slice(4)) ?? null
  return entryOf(SUBMIT_CODES, code)?.text ?? explainStatus(code)
}
