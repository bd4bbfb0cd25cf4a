import type { Outcome, RejectCode } from '../../channels/provider.ts'
import type { MessageError } from '../../contract/message.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import type { Random } from '../../lib/random.ts'

/** What an attempt's outcome makes of its message; `docs/states.md` draws it. */
export type Settlement = {
  kind: 'sent' | 'failed' | 'queued' | 'unknown'
  providerId: string | null
  providerCode: string | null
  errorCode: MessageError | null
  errorDetail: string | null
  /** When it is due again (queued), or counts as sent without any word (unknown); ms since the epoch. */
  dueAt: number | null
  /** A throttled attempt is no try. */
  uncounted: boolean
  /** What the sender is told when this is the first word; null while there is more to wait for. */
  answer: 'sent' | 'queued' | 'failed' | null
}

export type SettlePolicy = {
  maxAttempts: number
  backoffMs: number
  unknownDeadlineMs: number
}

/** The longest that an exponential backoff grows to. */
const BACKOFF_CAP_MS = HOUR_MS

/** The public code of each reason that a provider can give. */
export const PUBLIC_CODE: Record<RejectCode, MessageError> = {
  RECIPIENT_REJECTED: 'RECIPIENT_REJECTED',
  CHATAPP_NOT_REGISTERED: 'CHATAPP_NOT_REGISTERED',
  MESSAGE_REJECTED: 'MESSAGE_REJECTED',
  SENDER_REJECTED: 'MESSAGE_REJECTED',
  PROVIDER_UNAVAILABLE: 'PROVIDER_UNAVAILABLE',
}

const NOTHING = {
  providerId: null,
  providerCode: null,
  errorCode: null,
  errorDetail: null,
  dueAt: null,
  uncounted: false,
} as const

/** What was recorded and is known not to have been made: due at once, and no try. Nobody is told of it. */
export function notMade(nowMs: number): Settlement {
  return {
    ...NOTHING,
    kind: 'queued',
    errorDetail: 'the attempt was recorded but not made',
    dueAt: nowMs,
    uncounted: true,
    answer: null,
  }
}

/**
 * Decides the next state of a message from its attempt's outcome, where no other
 * connection takes it. `tries` is how often this one was asked by now. Pure.
 */
export function settleOutcome(
  outcome: Outcome,
  tries: number,
  policy: SettlePolicy,
  nowMs: number,
  random: Random,
): Settlement {
  const providerCode = ('providerCode' in outcome ? outcome.providerCode : undefined) ?? null
  switch (outcome.kind) {
    case 'accepted':
      return {
        ...NOTHING,
        kind: 'sent',
        providerId: outcome.providerId,
        providerCode: outcome.code ?? null,
        answer: 'sent',
      }
    case 'rejected':
      return {
        ...NOTHING,
        kind: 'failed',
        providerCode,
        errorCode: PUBLIC_CODE[outcome.code],
        errorDetail: outcome.detail,
        answer: 'failed',
      }
    case 'retry': {
      if (tries >= policy.maxAttempts) {
        return {
          ...NOTHING,
          kind: 'failed',
          providerCode,
          errorCode: 'PROVIDER_UNAVAILABLE',
          errorDetail: outcome.detail,
          answer: 'failed',
        }
      }
      const waitMs = outcome.afterMs ?? backoffMs(policy.backoffMs, tries, random, BACKOFF_CAP_MS)
      return {
        ...NOTHING,
        kind: 'queued',
        providerCode,
        errorDetail: outcome.detail,
        dueAt: nowMs + waitMs,
        answer: null,
      }
    }
    case 'throttled':
      return {
        ...NOTHING,
        kind: 'queued',
        providerCode,
        errorDetail: outcome.detail ?? 'throttled',
        dueAt: nowMs + outcome.afterMs,
        uncounted: true,
        answer: null,
      }
    case 'unknown':
      return {
        ...NOTHING,
        kind: 'unknown',
        providerCode,
        errorDetail: outcome.detail,
        dueAt: nowMs + policy.unknownDeadlineMs,
        answer: 'queued',
      }
  }
}
