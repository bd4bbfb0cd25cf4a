import { type Clock, pauseUnless } from '../../lib/clock.ts'
import type { Outcome, Outgoing } from '../provider.ts'
import { fragmentOf, wholeOf } from '../shared/pieces.ts'
import type { SmppSettings } from './config.ts'
import { toShortMessages } from './encode.ts'
import type { SubmitAnswer } from './in-flight.ts'
import type { ShortMessage } from './pdu.ts'
import type { Pool } from './pool.ts'
import type { ReceiptIds } from './receipt-ids.ts'
import { refusal, STATUS } from './status.ts'

export type SenderDeps = {
  settings: SmppSettings
  pool: Pool
  clock: Clock
  ids: ReceiptIds
  /** Told of an outcome that was unknown when the send was answered. */
  onLate(message: Outgoing, outcome: Outcome): void
  /** Where the references of long messages begin. */
  firstReference: number
}

/** Tries of a part behind the first: giving up would leave half a message on the phone. */
const PART_TRIES = 4
const PART_PAUSE_MS = 1000

/**
 * Turns messages into submits and answers into outcomes.
 *
 * Parts go one after the other, each behind the other's answer. The first
 * part's outcome is the message's when it is not taken. From then on part of
 * the message is out: a part that the centre does not take now is tried again
 * shortly, and when that does not help the outcome is `unknown`, since
 * "accepted" would hide the missing parts and "rejected" would give back the
 * money for those that were taken.
 */
export function createSender(deps: SenderDeps) {
  const { settings, pool, clock, ids } = deps
  let reference = deps.firstReference

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const parts = toShortMessages(message, settings, reference)
    if (!Array.isArray(parts)) return parts
    if (parts.length > 1) {
      reference++
      return sendParts(parts, message.attemptId, signal)
    }
    // A long message is not told later: which of its parts a late answer speaks for says little of the whole.
    const onLate = (answer: SubmitAnswer): void => {
      noteId(answer)
      deps.onLate(message, toOutcome(answer, message.attemptId))
    }
    return toOutcome(await pool.submit(parts[0]!, signal, noteId, onLate), message.attemptId)
  }

  /** In the moment of the answer: the receipt may stand right behind it. */
  function noteId(answer: SubmitAnswer): void {
    if (isTaken(answer)) ids.submitted(answer.messageId)
  }

  async function sendParts(
    parts: readonly ShortMessage[],
    attemptId: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const taken: string[] = []
    for (const part of parts) {
      const outcome = await submitPart(part, taken.length === 0 ? 1 : PART_TRIES, attemptId, signal)
      if (outcome.kind === 'accepted') taken.push(outcome.providerId)
      else return taken.length === 0 ? outcome : partlyTaken(taken, parts.length, outcome)
    }
    return { kind: 'accepted', ...wholeOf(taken), parts: parts.length }
  }

  async function submitPart(
    part: ShortMessage,
    tries: number,
    attemptId: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    for (let tried = 1; ; tried++) {
      const outcome = toOutcome(await pool.submit(part, signal, noteId), attemptId)
      const notNow = outcome.kind === 'retry' || outcome.kind === 'throttled'
      if (!notNow || tried >= tries || signal.aborted) return outcome
      await pauseUnless(clock, outcome.afterMs ?? PART_PAUSE_MS, signal)
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

type Taken = Extract<SubmitAnswer, { kind: 'answer' }>

function isTaken(answer: SubmitAnswer): answer is Taken {
  return answer.kind === 'answer' && answer.status === STATUS.ok
}

/** Some centres take a message without giving it an id; no receipt will ever match this one. */
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
