import type { Random } from '../../lib/random.ts'
import type { Outcome, Outgoing, ProviderPolicy } from '../provider.ts'
import { rejected } from './outcome.ts'
import { PLAIN_TEXT } from './policy.ts'

/**
 * A valid sender of an SMS: digits, of which SMPP allows 20 (3.4, 4.4.1), or a name. Its address
 * field has ten octets, which hold eleven septets (3GPP TS 23.040, 9.1.2.5).
 */
export const SENDER_PATTERN = '\\+?[0-9]{1,20}|\\+?[A-Za-z0-9 ._-]{1,11}'

/** What is wrong with a sender that is neither a number nor a valid alphanumeric name. */
export const SENDER_FAULT =
  'must be a number, or a name of at most 11 letters a to z, digits, spaces, dots, _ and -'

export const SMS_POLICY: ProviderPolicy = {
  ...PLAIN_TEXT,
  supportsUserSender: true,
  supportsSystemSenderFallback: true,
  retryPolicy: { maxAttempts: 12, backoffMs: 2_000 },
}

/** A rejection where the message cannot be sent as an SMS; else null. */
export function rejectUnsendable({ files, text }: Outgoing): Outcome | null {
  if (files.length > 0) return rejected('MESSAGE_REJECTED', 'An SMS cannot carry files.')
  return text === '' ? rejected('MESSAGE_REJECTED', 'The message has no text.') : null
}

export const NO_SENDER: Outcome = rejected(
  'SENDER_REJECTED',
  'Neither the message nor the connection names a sender.',
)

/** A number without its plus, as most APIs expect it. Names stay as they are. */
export function withoutPlus(address: string): string {
  return address.replace(/^\+(?=\d+$)/, '')
}

/** A number in E.164 with its plus; short codes and names stay as they are. */
export function withPlus(address: string): string {
  return /^\d{7,15}$/.test(address) ? `+${address}` : address
}

const EVENT_ID_BYTES = 12

/** A random unique id, for an inbound message without one. */
export function randomEventId(random: Pick<Random, 'bytes'>): string {
  return random.bytes(EVENT_ID_BYTES).toString('hex')
}
