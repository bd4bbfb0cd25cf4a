import type { Outcome } from '../provider.ts'
import { entryOf } from '../shared/table.ts'

/** How long to pause where the server does not say: numbers that keep sending are banned. */
const REST_MS = 60_000

/** Why the chat app's server refused a message, by the `error` of its answer. */
const REFUSALS: Readonly<Record<string, { text: string; outcome: 'retry' | 'rest' | RejectedAs }>> = {
  '401': { text: 'This account may not write to this chat.', outcome: 'RECIPIENT_REJECTED' },
  '403': { text: 'This account may not write to this chat.', outcome: 'RECIPIENT_REJECTED' },
  '404': { text: 'There is no such chat.', outcome: 'RECIPIENT_REJECTED' },
  '406': { text: 'The message was not acceptable.', outcome: 'MESSAGE_REJECTED' },
  '429': { text: 'Too many messages.', outcome: 'rest' },
  '463': { text: 'WhatsApp does not let this account start new chats.', outcome: 'SENDER_REJECTED' },
  '479': { text: 'The recipient’s devices have changed meanwhile.', outcome: 'retry' },
  '491': { text: 'The message could not be read.', outcome: 'MESSAGE_REJECTED' },
  '500': { text: 'The server had an internal error.', outcome: 'retry' },
  '503': { text: 'The server is busy.', outcome: 'retry' },
}
type RejectedAs = 'RECIPIENT_REJECTED' | 'MESSAGE_REJECTED' | 'SENDER_REJECTED'

export function explainCode(code: string): string | null {
  return entryOf(REFUSALS, code)?.text ?? null
}

/** A refusal proves that the message was not taken. */
export function refusalOf(code: string): Outcome {
  const { text: detail, outcome } = entryOf(REFUSALS, code) ?? {
    text: `WhatsApp refused the message (${code}).`,
    outcome: 'MESSAGE_REJECTED',
  }
  if (outcome === 'rest') return { kind: 'throttled', afterMs: REST_MS, detail, providerCode: code }
  return outcome === 'retry'
    ? { kind: 'retry', detail, providerCode: code }
    : { kind: 'rejected', code: outcome, detail, providerCode: code }
}
