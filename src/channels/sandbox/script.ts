import type { Channel } from '../../contract/enums.ts'
import type { Receipt, RejectCode } from '../provider.ts'
import { entryOf } from '../shared/table.ts'

/** What the sandbox does with a message, decided by its recipient alone. */
export type Script = Refusal | Acceptance

export type Refusal = { act: 'refuse'; code: RejectCode; detail: string; providerCode: string }

export type Acceptance = {
  act: 'take'
  /** How many tries fail temporarily before one is accepted. */
  failures: number
  /** The account's lane is throttled before the message is accepted. */
  throttles: boolean
  /** False: the message is accepted, but the answer never comes. */
  answers: boolean
  /** A receipt goes out before the answer. */
  receiptFirst: boolean
  receipts: readonly PlannedReceipt[]
}

/** A receipt, `afterMs` after the message was taken. */
export type PlannedReceipt = { status: Exclude<Receipt['status'], 'sent'>; afterMs: number }

const DELIVERED: PlannedReceipt = { status: 'delivered', afterMs: 1_000 }
const UNDELIVERED: PlannedReceipt = { status: 'undelivered', afterMs: 1_000 }
const READ: PlannedReceipt = { status: 'read', afterMs: 2_000 }

const DEFAULT_SCRIPT: Acceptance = {
  act: 'take',
  failures: 0,
  throttles: false,
  answers: true,
  receiptFirst: false,
  receipts: [DELIVERED],
}
const DEFAULT_CHATAPP_SCRIPT: Acceptance = { ...DEFAULT_SCRIPT, receipts: [DELIVERED, READ] }

export const NOT_REGISTERED: Refusal = {
  act: 'refuse',
  code: 'CHATAPP_NOT_REGISTERED',
  detail: 'The recipient is not registered on the chat app.',
  providerCode: '0001',
}

const REFUSED: Refusal = {
  act: 'refuse',
  code: 'RECIPIENT_REJECTED',
  detail: 'The sandbox refuses recipients that end in 0002.',
  providerCode: '0002',
}

/** What becomes of a message to `to` on `channel`; `docs/sandbox.md` lists the endings. */
export function scriptOf(channel: Channel, to: string): Script {
  const onChatApp = channel === 'official_chatapp' || channel === 'user_chatapp_session'
  const usual = onChatApp ? DEFAULT_CHATAPP_SCRIPT : DEFAULT_SCRIPT
  switch (endingOf(channel, to)) {
    case '0001':
      return onChatApp ? NOT_REGISTERED : usual
    case '0002':
      return REFUSED
    case '0003':
      return { ...usual, failures: 2 }
    case '0004':
      return { ...usual, receipts: [UNDELIVERED] }
    case '0005':
      return { ...usual, answers: false, receipts: [] }
    case '0006':
      return { ...usual, throttles: true }
    case '0007':
      // The planned receipt is the duplicate.
      return { ...usual, receiptFirst: true, receipts: [DELIVERED] }
    default:
      return usual
  }
}

/**
 * The four digits that decide: the last of a phone or chat id, those before the @
 * of a group id, those of the local part `ph-0001` of an e-mail address; else ''.
 */
export function endingOf(channel: Channel, to: string): string {
  const pattern = channel === 'email_user' ? /^ph-(\d{4})@/i : /(\d{4})(?:@.*)?$/
  return pattern.exec(to)?.[1] ?? ''
}

/** What the sandbox's codes mean; a code is the ending that caused it. */
const MEANINGS: Readonly<Record<string, string>> = {
  '0001': 'Not registered on the chat app.',
  '0002': 'The recipient is refused for good.',
  '0003': 'A temporary failure: the message is tried again.',
  '0004': 'The message could not be delivered.',
  '0006': 'Too many messages: the account has to wait.',
}

export function explainCode(code: string): string | null {
  return entryOf(MEANINGS, code) ?? null
}
