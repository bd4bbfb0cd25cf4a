import { type Clock, pauseUnless } from '../../lib/clock.ts'
import type { Outcome, Outgoing } from '../provider.ts'
import { fragmentOf, wholeOf } from '../shared/pieces.ts'
import type { SmppSettings } from './config.ts'
import { toShortMessages } from './encode.ts'
import type { SubmitAnswer } from './in-flight.ts'
import type { ShortMessage } from './pdu.ts'
import type { Pool } from './pool.ts'
import type { ReceiptIds } from './receipt-ids.ts'
import type { OnAnswer } from './session.ts'
import { refusal, STATUS } from './status.ts'

export type SenderDeps = {
  settings: SmppSettings
  pool: Pool
  clock: Clock
  ids: ReceiptIds
  /** Called with the outcome of an attempt that had been answered as unknown. */
  onLate(message: Outgoing, outcome: Outcome): void
  /** The first concatenation reference of long messages. */
  firstReference: number
}

const PART_PAUSE_MS = 1000

/**
 * Turns messages into submits and responses into outcomes.
 *
 * Parts go one after the other, each when the one before was answered. If the
 * first part is not taken, its outcome is the message's. If it is taken, a
 * later part that is not taken is tried again until the send's deadline, since
 * giving up would leave half a message on the phone. While the SMSC throttles
 * such a part, no other message begins: it would use up the SMSC's rate and
 * be interrupted as well. If a part is still missing at the deadline, the outcome
 * is `unknown`: "accepted" would hide the missing parts, and "rejected" would
 * release the money for those that were taken.
 */
export function createSender(deps: SenderDeps) {
  const { settings, pool, clock, ids } = deps
  let reference = deps.firstReference
  /** Attempts of which some parts were taken, and a later part is throttled. */
  const slowed = new Set<string>()

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const parts = toShortMessages(message, settings, reference)
    if (!Array.isArray(parts)) return parts
    if (slowed.size > 0) return { kind: 'throttled', afterMs: settings.throttleMs, detail: OTHERS_FIRST }
    if (parts.length > 1) {
      reference++
      return sendParts(parts, message, signal).finally(() => slowed.delete(message.attemptId))
    }
    return submit(parts[0]!, message.attemptId, signal, answer => {
      noteId(answer)
      tellLate(message, answer)
    })
  }

  function tellLate(message: Outgoing, answer: SubmitAnswer): void {
    deps.onLate(message, toOutcome(answer, message.attemptId))
  }

  /** Called while the response is read: the receipt may follow in the same bytes. */
  function noteId(answer: SubmitAnswer): void {
    if (isTaken(answer)) ids.submitted(answer.messageId)
  }

  async function sendParts(
    parts: readonly ShortMessage[],
    message: Outgoing,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { attemptId } = message
    const taken: string[] = []
    // A late refusal of the first part ends the message, as a timely one does. Other late responses do not decide it.
    const onLate = (answer: SubmitAnswer): void => {
      if (!isTaken(answer)) tellLate(message, answer)
    }
    for (const part of parts) {
      const outcome =
        taken.length === 0
          ? await submit(part, attemptId, signal, onLate)
          : await submitUntilTaken(part, attemptId, signal)
      if (outcome.kind === 'accepted') taken.push(outcome.providerId)
      else return taken.length === 0 ? outcome : partlyTaken(taken, parts.length, outcome)
    }
    return { kind: 'accepted', ...wholeOf(taken), parts: parts.length }
  }

  async function submit(
    part: ShortMessage,
    attemptId: string,
    signal: AbortSignal,
    onLate?: OnAnswer,
  ): Promise<Outcome> {
    return toOutcome(await pool.submit(part, signal, noteId, onLate), attemptId)
  }

  async function submitUntilTaken(
    part: ShortMessage,
    attemptId: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    for (;;) {
      const outcome = await submit(part, attemptId, signal)
      if (outcome.kind !== 'retry' && outcome.kind !== 'throttled') return outcome
      if (outcome.kind === 'throttled') slowed.add(attemptId)
      await pauseUnless(clock, outcome.afterMs ?? PART_PAUSE_MS, signal)
      if (signal.aborted) return outcome
    }
  }

  function toOutcome(answer: SubmitAnswer, attemptId: string): Outcome {
    if (answer.kind === 'unknown') return { kind: 'unknown', detail: answer.detail }
    if (answer.kind === 'unwritten') return { kind: 'retry', detail: `not submitted: ${answer.detail}` }
    if (answer.status !== STATUS.ok) return refusal(answer.status, settings.throttleMs)
    return { kind: 'accepted', providerId: nameOf(answer.messageId, attemptId), parts: 1 }
  }

  return { send }
}

const OTHERS_FIRST = 'not submitted: the SMSC throttles the remaining parts of another message'

type Taken = Extract<SubmitAnswer, { kind: 'answer' }>

function isTaken(answer: SubmitAnswer): answer is Taken {
  return answer.kind === 'answer' && answer.status === STATUS.ok
}

/** Some SMSCs take a message without giving it an id; no receipt can match this made-up one. */
function nameOf(messageId: string, attemptId: string): string {
  return messageId === '' ? `unnamed-${attemptId}` : messageId
}

function partlyTaken(
  taken: readonly string[],
  total: number,
  outcome: Exclude<Outcome, { kind: 'accepted' }>,
): Outcome {
  const { providerCode, detail: why = outcome.kind } = outcome
  return {
    kind: 'unknown',
    detail: `${taken.length} of ${total} parts were taken, then: ${why}`,
    ...(providerCode !== undefined && { providerCode }),
    pieces: fragmentOf(taken, total),
  }
}
