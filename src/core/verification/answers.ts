import { SANDBOX } from '../../contract/sandbox.ts'
import type { ChannelOrder, VerificationAttempt, VerificationDelivery } from '../../contract/verification.ts'
import { toIso } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { type Answer, failedAnswer } from '../messages/answers.ts'
import type { FirstAnswer } from '../messages/first-answer.ts'
import type { VerificationId } from './codes.ts'
import { resendAtMs } from './rules.ts'

/** One code of a verification. */
export type CodeFacts = {
  id: VerificationId
  resends: number
  /** When this code was sent, in ms since the epoch. */
  sentAt: number
  validityMinutes: number
}

/** What the response to a start or a resend contains beside its messages; with `fansOut` it lists each channel's delivery. */
export type AttemptFacts = CodeFacts & {
  fansOut: boolean
  /** How the order of channels was learned, if the account has that enabled. */
  order: ChannelOrder | null
}

/** In ms since the epoch. */
export function expiryOf({ sentAt, validityMinutes }: CodeFacts): number {
  return sentAt + validityMinutes * MINUTE_MS
}

/** The response for the first answers of its messages; null where all of them failed. */
export function attemptAnswer(attempt: AttemptFacts, answers: readonly FirstAnswer[]): Answer | null {
  const alive = answers.every(isAlive) ? answers : answers.filter(isAlive)
  const first = alive[0]
  if (!first) return null
  const resendAt = resendAtMs(attempt.resends, attempt.sentAt) ?? expiryOf(attempt)
  const body: VerificationAttempt = {
    success: true,
    verificationId: attempt.id,
    status: alive.some(each => each.answer === 'sent') ? 'sent' : 'queued',
    channel: first.facts.channel,
    ...(alive.length > 1 && { channels: alive.map(each => each.facts.channel) }),
    ...(attempt.fansOut && { deliveries: answers.map(viewDelivery) }),
    expiresAt: toIso(expiryOf(attempt)),
    resendAvailableAt: toIso(resendAt),
    resendCount: attempt.resends,
    ...(attempt.order && {
      resolved: {
        channel: first.facts.channel,
        channels: [...first.facts.candidates],
        order: attempt.order,
      },
    }),
  }
  return {
    status: 200,
    body: JSON.stringify(body),
    replayed: false,
    sandbox: answers.some(each => each.facts.provider === SANDBOX),
    retryAfterSeconds: null,
  }
}

function isAlive({ answer }: FirstAnswer): boolean {
  return answer !== 'failed'
}

/** The response where every channel refused it: that of the first one. */
export function refusedAnswer(answers: readonly FirstAnswer[]): Answer {
  const first = answers.find(each => each.answer === 'failed')!
  return failedAnswer(first.facts, first.failure)
}

function viewDelivery({ answer, facts }: FirstAnswer): VerificationDelivery {
  return {
    channel: facts.channel,
    messageId: facts.id,
    // A code is never scheduled; it only waits for its provider.
    status: answer === 'scheduled' ? 'queued' : answer,
  }
}
