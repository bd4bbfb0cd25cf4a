import type { Outcome } from '../provider.ts'
import { entryOf } from '../shared/table.ts'

/** How long to pause where the server does not say: numbers that keep sending are banned. */
const REST_MS = 60_000

/** Why the chat app's server refused a message, by the `error` of its answer. */
const REFUSALS: Readonly<Record<string, { words: string; outcome: 'retry' | 'rest' | RejectedAs }>> = {
  '401': { words: 'this account may not write to this chat', outcome: 'RECIPIENT_REJECTED' },
  '403': { words: 'this account may not write to this chat', outcome: 'RECIPIENT_REJECTED' },
  '404': { words: 'there is no such chat', outcome: 'RECIPIENT_REJECTED' },
  '406': { words: 'the message was not acceptable', outcome: 'MESSAGE_REJECTED' },
  '429': { words: 'too many messages', outcome: 'rest' },
  '463': { words: 'WhatsApp does not let this account start new chats', outcome: 'SENDER_REJECTED' },
  '479': { words: 'the recipient’s devices have changed meanwhile', outcome: 'retry' },
  '491': { words: 'the message could not be read', outcome: 'MESSAGE_REJECTED' },
  '500': { words: 'the server had an internal error', outcome: 'retry' },
  '503': { words: 'the server is busy', outcome: 'retry' },
}
type RejectedAs = 'RECIPIENT_REJECTED' | 'MESSAGE_REJECTED' | 'SENDER_REJECTED'

export function explainCode(code: string): string | null {
  return entryOf(REFUSALS, code)?.words ?? null
}

/** A refusal proves that the message was not taken. */
export function refusalOf(code: string): Outcome {
  const { words, outcome } = entryOf(REFUSALS, code) ?? {
    words: 'WhatsApp refused the message',
    outcome: 'MESSAGE_REJECTED',
  }
  const detail = `${words} (${code})`
  if (outcome === 'rest') return { kind: 'throttled', afterMs: REST_MS, detail, providerCode: code }
  return outcome === 'retry'
    ? { kind: 'retry', detail, providerCode: code }
    : { kind: 'rejected', code: outcome, detail, providerCode: code }
}
