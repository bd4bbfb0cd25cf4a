import { type Clock, pauseUnlessAborted } from '../../lib/clock.ts'
import type { Outcome, Outgoing } from '../provider.ts'
import { incompletePartIds, joinPartIds } from '../shared/part-ids.ts'
import type { SmppSettings } from './config.ts'
import { toShortMessages } from './encode.ts'
import type { SubmitResult } from './in-flight.ts'
import type { ShortMessage } from './pdu.ts'
import type { Pool } from './pool.ts'
import type { OnResult } from './session.ts'
import { outcomeOfRefusal, STATUS } from './status.ts'

export type SenderDeps = {
  settings: SmppSettings
  pool: Pool
  clock: Clock
  /** Called while the response is read: the receipt may follow in the same bytes. */
  onAccepted(id: string, message: Outgoing): void
  /** Called with the outcome of an attempt that had been answered as unknown. */
  onLateOutcome(message: Outgoing, outcome: Outcome): void
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
  const { settings, pool, clock } = deps
  let reference = deps.firstReference
  /** Attempts of which some parts were taken, and a later part is throttled. */
  const throttledMessages = new Set<string>()

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const parts = toShortMessages(message, settings, reference)
    if (!Array.isArray(parts)) return parts
    if (throttledMessages.size > 0)
      return { kind: 'throttled', afterMs: settings.throttleMs, detail: PARTS_THROTTLED }
    if (parts.length > 1) {
      reference++
      return sendParts(parts, message, signal).finally(() => throttledMessages.delete(message.attemptId))
    }
    return submit(parts[0]!, message, signal, answer => {
      record(message, answer)
      reportLate(message, answer)
    })
  }

  function reportLate(message: Outgoing, answer: SubmitResult): void {
    deps.onLateOutcome(message, toOutcome(answer, message.attemptId))
  }

  function record(message: Outgoing, answer: SubmitResult): void {
    if (isAccepted(answer)) deps.onAccepted(answer.messageId, message)
  }

  async function sendParts(
    parts: readonly ShortMessage[],
    message: Outgoing,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const acceptedIds: string[] = []
    // A late refusal of the first part ends the message, as a timely one does. Other late responses do not decide it.
    const onLate = (answer: SubmitResult): void => {
      if (!isAccepted(answer)) reportLate(message, answer)
    }
    for (const part of parts) {
      const outcome =
        acceptedIds.length === 0
          ? await submit(part, message, signal, onLate)
          : await submitUntilAccepted(part, message, signal)
      if (outcome.kind === 'accepted') acceptedIds.push(outcome.providerId)
      else return acceptedIds.length === 0 ? outcome : partlyAccepted(acceptedIds, parts.length, outcome)
    }
    return { kind: 'accepted', ...joinPartIds(acceptedIds), parts: parts.length }
  }

  async function submit(
    part: ShortMessage,
    message: Outgoing,
    signal: AbortSignal,
    onLate?: OnResult,
  ): Promise<Outcome> {
    const onAnswer: OnResult = answer => record(message, answer)
    return toOutcome(await pool.submit(part, signal, onAnswer, onLate), message.attemptId)
  }

  async function submitUntilAccepted(
    part: ShortMessage,
    message: Outgoing,
    signal: AbortSignal,
  ): Promise<Outcome> {
    for (;;) {
      const outcome = await submit(part, message, signal)
      if (outcome.kind !== 'retry' && outcome.kind !== 'throttled') return outcome
      if (outcome.kind === 'throttled') throttledMessages.add(message.attemptId)
      await pauseUnlessAborted(clock, outcome.afterMs ?? PART_PAUSE_MS, signal)
      if (signal.aborted) return outcome
    }
  }

  function toOutcome(answer: SubmitResult, attemptId: string): Outcome {
    if (answer.kind === 'unknown') return { kind: 'unknown', detail: answer.detail }
    if (answer.kind === 'unwritten') return { kind: 'retry', detail: `not submitted: ${answer.detail}` }
    if (answer.status !== STATUS.ok) return outcomeOfRefusal(answer.status, settings.throttleMs)
    return { kind: 'accepted', providerId: providerIdOf(answer.messageId, attemptId), parts: 1 }
  }

  return { send }
}

const PARTS_THROTTLED = 'not submitted: the SMSC throttles the remaining parts of another message'

type AcceptedResult = Extract<SubmitResult, { kind: 'answer' }>

function isAccepted(answer: SubmitResult): answer is AcceptedResult {
  return answer.kind === 'answer' && answer.status === STATUS.ok
}

/** Some SMSCs take a message without giving it an id; no receipt can match this made-up one. */
function providerIdOf(messageId: string, attemptId: string): string {
  return messageId === '' ? `unnamed-${attemptId}` : messageId
}

function partlyAccepted(
  taken: readonly string[],
  total: number,
  outcome: Exclude<Outcome, { kind: 'accepted' }>,
): Outcome {
  const { providerCode, detail: why = outcome.kind } = outcome
  return {
    kind: 'unknown',
    detail: `${taken.length} of ${total} parts were taken, then: ${why}`,
    ...(providerCode !== undefined && { providerCode }),
    pieces: incompletePartIds(taken, total),
  }
}
