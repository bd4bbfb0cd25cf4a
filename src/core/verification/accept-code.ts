import type { ChannelOrder } from '../../contract/verification.ts'
import { DatabaseUnavailable } from '../../infra/db.ts'
import type { Ids, MessageId } from '../../lib/ids.ts'
import type { Breach, Guard, GuardedSend } from '../fraud/guard.ts'
import type { AcceptMessage } from '../messages/accept-message.ts'
import { awaitFirstAnswer, type FirstAnswer, type FirstAnswerDeps } from '../messages/first-answer.ts'
import type { AcceptRow, KeyClaim } from '../messages/hot-store.ts'
import type { Prepared } from '../messages/prepare.ts'
import type { FirstOutcome } from '../messages/waiters.ts'

/** The routed messages that are to carry a code: at least one; the first is the one that routing prefers. */
export type RoutedCode = {
  first: Prepared
  others: readonly Prepared[]
  /** How the order of the first one's channels was learned; null if that was not requested. */
  order: ChannelOrder | null
}

export type AcceptCodeDeps = FirstAnswerDeps & { ids: Ids; guard: Guard; acceptMessage: AcceptMessage }

/** A code that passed the guard, and how it is stored. */
export type PassedCode<Verdict> = {
  /** Of its first message. */
  id: MessageId
  claim: KeyClaim | null
  guarded: GuardedSend
  /** Stores the first message with its verification; `messages` are all that are to carry the code. */
  add(row: AcceptRow, messages: readonly MessageId[]): Promise<Verdict>
  /** Removes one of `messages` from the verification that neither pool nor wallet covered. */
  dropMessage(message: MessageId): Promise<void>
  /** Called when it is known whether the code was stored. */
  onDecided(): void
}

/** The first answers of the messages of an accepted code. */
export type AcceptedCode = { kind: 'answered'; answers: readonly FirstAnswer[] }

/** There was no turn for it (fraud/guard.ts). */
export type LimitReached = { kind: 'blocked'; breach: Breach }

/** One try to accept the first message of a code; `others` are still to be accepted. */
type AcceptTry<Verdict> = {
  first: Prepared
  others: readonly Prepared[]
  messages: readonly MessageId[]
  outcome: Promise<FirstOutcome | null>
  verdict: Promise<Verdict>
}

/**
 * Accepts the messages that carry one code, and waits for their first answers. The first is
 * accepted together with its verification, by `code.add`; the others follow as ordinary sends,
 * each of which pays for itself and fails alone. Where neither pool nor wallet covers the first,
 * the next one becomes the first; the last verdict is returned. The guard is notified of the
 * result: a code that no channel took does not count.
 */
export async function acceptCode<Verdict extends { kind: string }>(
  code: PassedCode<Verdict>,
  routed: Pick<RoutedCode, 'first' | 'others'>,
  deps: AcceptCodeDeps,
): Promise<AcceptedCode | LimitReached | Exclude<Verdict, { kind: 'accepted' | 'late' }>> {
  const { guard } = deps
  let accepted = false
  let watched = false
  let mayBeSent = false
  try {
    let tried = tryFirst(code, routed, deps)
    let verdict = await tried.verdict
    while (verdict.kind === 'insufficient' && tried.others.length > 0) {
      tried = tryNext(code, tried.others, deps)
      verdict = await tried.verdict
    }
    accepted = verdict.kind === 'accepted'
    code.onDecided()
    if (isLate(verdict)) return { kind: 'blocked', breach: guard.refuseLate(code.guarded, verdict.freeAtMs) }
    if (!accepted) return verdict as Exclude<Verdict, { kind: 'accepted' | 'late' }>
    watched = 'watched' in verdict
    // If this throws from here on, the code may have been sent nevertheless.
    mayBeSent = true
    const own = awaitFirstAnswer(deps, code.id, tried.first, code.claim, tried.outcome)
    const answers = tried.others.length === 0 ? [await own] : await awaitAnswers(own, code, tried, deps)
    mayBeSent = answers.some(({ answer }) => answer !== 'failed')
    return { kind: 'answered', answers }
  } finally {
    if (!accepted) deps.waiters.remove(code.id)
    if (mayBeSent) guard.sent(code.guarded, watched)
    else guard.dropped(code.guarded)
  }
}

function isLate(verdict: { kind: string }): verdict is { kind: 'late'; freeAtMs: number } {
  return verdict.kind === 'late'
}

function tryFirst<Verdict extends { kind: string }>(
  code: PassedCode<Verdict>,
  { first, others }: Pick<RoutedCode, 'first' | 'others'>,
  deps: AcceptCodeDeps,
): AcceptTry<Verdict> {
  const { id, claim } = code
  const messages = others.length === 0 ? [id] : [id, ...others.map(() => deps.ids.next('msg'))]
  // If the provider of one of several is unavailable, another may send the code: the key is not freed with that message.
  const outcome = deps.waiters.wait(id, others.length === 0 ? claim : null)
  const verdict = deps.acceptMessage(id, first, claim, row => code.add(row, messages))
  return { first, others, messages, outcome, verdict }
}

/** The idempotency key is free: the statement that refused the message before has not kept it. */
function tryNext<Verdict extends { kind: string }>(
  code: PassedCode<Verdict>,
  [next, ...rest]: readonly Prepared[],
  deps: AcceptCodeDeps,
): AcceptTry<Verdict> {
  return tryFirst(code, { first: next!, others: rest }, deps)
}

/** The first answers of the first message and of those that follow it. */
async function awaitAnswers<Verdict>(
  own: Promise<FirstAnswer>,
  code: PassedCode<Verdict>,
  { others, messages }: AcceptTry<Verdict>,
  deps: AcceptCodeDeps,
): Promise<FirstAnswer[]> {
  const further = others.map((prepared, at) => acceptFurther(messages[at + 1]!, prepared, code, deps))
  return (await Promise.all([own, ...further])).filter(each => each !== null)
}

/**
 * Null where neither pool nor wallet covers it, or, without a key, where the database did not confirm it: the code is
 * being sent by another channel. With a key the response is stored for replays, and it is not known yet whether this
 * message will be sent or withdrawn: so the error is thrown, and a repeat gets the response.
 */
async function acceptFurther<Verdict>(
  id: MessageId,
  prepared: Prepared,
  { claim, dropMessage }: Pick<PassedCode<Verdict>, 'claim' | 'dropMessage'>,
  deps: AcceptCodeDeps,
): Promise<FirstAnswer | null> {
  const outcome = deps.waiters.wait(id, null)
  try {
    const verdict = await deps.acceptMessage(id, prepared, null)
    // It has no key of its own, but its first answer is part of a response that has one.
    if (verdict.kind === 'accepted') return await awaitFirstAnswer(deps, id, prepared, claim, outcome)
    // While the verification names it, a repeat takes it for one that is still being accepted.
    await dropMessage(id)
    return null
  } catch (error) {
    if (claim || !(error instanceof DatabaseUnavailable)) throw error
    return null
  } finally {
    deps.waiters.remove(id)
  }
}
