import type { Outcome, RejectCode } from '../../channels/provider.ts'
import type { MessageError } from '../../contract/message.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import type { Random } from '../../lib/random.ts'

/** The next state of a message after an attempt; `docs/states.md` draws the states. */
export type Settlement = {
  kind: 'sent' | 'failed' | 'queued' | 'unknown'
  providerId: string | null
  providerCode: string | null
  errorCode: MessageError | null
  errorDetail: string | null
  /** When it is due again (queued), or counts as sent without an outcome (unknown); ms since the epoch. */
  dueAt: number | null
  /** The attempt does not count, as after a throttle. */
  uncounted: boolean
  /** The answer for the request that waits, if this is the first outcome; null if it waits on. */
  answer: 'sent' | 'queued' | 'failed' | null
}

export type SettlePolicy = {
  maxAttempts: number
  backoffMs: number
  unknownDeadlineMs: number
}

/** The longest backoff, in ms; providers do not ask for more either (channels/http/verdict.ts). */
export const BACKOFF_CAP_MS = HOUR_MS

/** The public error code for each reason of a provider. */
export const PUBLIC_CODE: Record<RejectCode, MessageError> = {
  RECIPIENT_REJECTED: 'RECIPIENT_REJECTED',
  CHATAPP_NOT_REGISTERED: 'CHATAPP_NOT_REGISTERED',
  MESSAGE_REJECTED: 'MESSAGE_REJECTED',
  SENDER_REJECTED: 'MESSAGE_REJECTED',
  PROVIDER_UNAVAILABLE: 'PROVIDER_UNAVAILABLE',
}

const EMPTY = {
  providerId: null,
  providerCode: null,
  errorCode: null,
  errorDetail: null,
  dueAt: null,
  uncounted: false,
} as const

/** For an attempt that was recorded but certainly not made: the message is due again, the attempt does not count. */
export function settleNotMade(dueAtMs: number): Settlement {
  return {
    ...EMPTY,
    kind: 'queued',
    errorDetail: 'the attempt was recorded but not made',
    dueAt: dueAtMs,
    uncounted: true,
    answer: null,
  }
}

/**
 * The next state of a message by the outcome of its attempt, if it does not fail over.
 * `tries` counts the attempts over its connection so far. Pure.
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
        ...EMPTY,
        kind: 'sent',
        providerId: outcome.providerId,
        providerCode: outcome.code ?? null,
        answer: 'sent',
      }
    case 'rejected':
      return {
        ...EMPTY,
        kind: 'failed',
        providerCode,
        errorCode: PUBLIC_CODE[outcome.code],
        errorDetail: outcome.detail,
        answer: 'failed',
      }
    case 'retry': {
      if (tries >= policy.maxAttempts) {
        return {
          ...EMPTY,
          kind: 'failed',
          providerCode,
          errorCode: 'PROVIDER_UNAVAILABLE',
          errorDetail: outcome.detail,
          answer: 'failed',
        }
      }
      const ownMs = outcome.afterMs ?? backoffMs(policy.backoffMs, tries, random, BACKOFF_CAP_MS)
      // A provider that asks for a second each time it is asked must not use up the tries within seconds.
      const waitMs = Math.max(ownMs, outcome.atLeastMs ?? 0)
      return {
        ...EMPTY,
        kind: 'queued',
        providerCode,
        errorDetail: outcome.detail,
        dueAt: nowMs + waitMs,
        answer: null,
      }
    }
    case 'throttled':
      return {
        ...EMPTY,
        kind: 'queued',
        providerCode,
        errorDetail: outcome.detail ?? 'throttled',
        dueAt: nowMs + outcome.afterMs,
        uncounted: true,
        answer: null,
      }
    case 'unknown':
      return {
        ...EMPTY,
        kind: 'unknown',
        // Where some parts were taken, their receipts are combined under this id.
        providerId: outcome.pieces?.whole ?? null,
        providerCode,
        errorDetail: outcome.detail,
        dueAt: nowMs + policy.unknownDeadlineMs,
        answer: 'queued',
      }
  }
}
