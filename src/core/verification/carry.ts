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
export type Ways = {
  first: Prepared
  others: readonly Prepared[]
  /** How the order of the first one's channels was learned; null if that was not requested. */
  order: ChannelOrder | null
}

export type CarryDeps = FirstAnswerDeps & { ids: Ids; guard: Guard; acceptMessage: AcceptMessage }

/** A code that passed the guard, and how it is stored. */
export type Passed<Verdict> = {
  /** Of its first message. */
  id: MessageId
  claim: KeyClaim | null
  guarded: GuardedSend
  /** Stores the first message with its verification; `messages` are all that are to carry the code. */
  add(row: AcceptRow, messages: readonly MessageId[]): Promise<Verdict>
  /** Frees the idempotency key after a message that neither pool nor wallet covered. */
  freeKey(): Promise<void>
  /** Called when it is known whether the code was stored. */
  decided(): void
}

/** The first answers of the messages of an accepted code. */
export type Heard = { kind: 'heard'; told: readonly FirstAnswer[] }

/** There was no turn for it (fraud/guard.ts). */
export type Late = { kind: 'blocked'; breach: Breach }

/** One try to accept the first message of a code; `others` are still to be accepted. */
type Try<Verdict> = {
  first: Prepared
  others: readonly Prepared[]
  messages: readonly MessageId[]
  word: Promise<FirstOutcome | null>
  verdict: Promise<Verdict>
}

/**
 * Accepts the messages that carry one code, and waits for their first answers. The first is
 * accepted together with its verification, by `code.add`; the others follow as ordinary sends,
 * each of which pays for itself and fails alone. Where neither pool nor wallet covers the first,
 * the next one becomes the first; the last verdict is returned. The guard is notified of the
 * result: a code that no channel took does not count.
 */
export async function carry<Verdict extends { kind: string }>(
  code: Passed<Verdict>,
  ways: Pick<Ways, 'first' | 'others'>,
  deps: CarryDeps,
): Promise<Heard | Late | Exclude<Verdict, { kind: 'accepted' | 'late' }>> {
  const { guard } = deps
  let accepted = false
  let watched = false
  let underWay = false
  try {
    let tried = tryFirst(code, ways, deps)
    let verdict = await tried.verdict
    while (verdict.kind === 'insufficient' && tried.others.length > 0) {
      tried = await tryNext(code, tried.others, deps)
      verdict = await tried.verdict
    }
    accepted = verdict.kind === 'accepted'
    code.decided()
    if (isLate(verdict)) return { kind: 'blocked', breach: guard.late(code.guarded, verdict.freeAtMs) }
    if (!accepted) return verdict as Exclude<Verdict, { kind: 'accepted' | 'late' }>
    watched = 'watched' in verdict
    // If this throws from here on, the code may have been sent nevertheless.
    underWay = true
    const own = awaitFirstAnswer(deps, code.id, tried.first, code.claim, tried.word)
    const told = tried.others.length === 0 ? [await own] : await hearAll(own, code, tried, deps)
    underWay = told.some(({ answer }) => answer !== 'failed')
    return { kind: 'heard', told }
  } finally {
    if (!accepted) deps.waiters.remove(code.id)
    if (underWay) guard.sent(code.guarded, watched)
    else guard.dropped(code.guarded)
  }
}

function isLate(verdict: { kind: string }): verdict is { kind: 'late'; freeAtMs: number } {
  return verdict.kind === 'late'
}

function tryFirst<Verdict extends { kind: string }>(
  code: Passed<Verdict>,
  { first, others }: Pick<Ways, 'first' | 'others'>,
  deps: CarryDeps,
): Try<Verdict> {
  const { id, claim } = code
  const messages = others.length === 0 ? [id] : [id, ...others.map(() => deps.ids.next('msg'))]
  const word = deps.waiters.wait(id, claim)
  const verdict = deps.acceptMessage(id, first, claim, row => code.add(row, messages))
  return { first, others, messages, word, verdict }
}

async function tryNext<Verdict extends { kind: string }>(
  code: Passed<Verdict>,
  [next, ...rest]: readonly Prepared[],
  deps: CarryDeps,
): Promise<Try<Verdict>> {
  if (code.claim) await code.freeKey()
  return tryFirst(code, { first: next!, others: rest }, deps)
}

/** The first answers of the first message and of those that follow it. */
async function hearAll<Verdict>(
  own: Promise<FirstAnswer>,
  { claim }: Passed<Verdict>,
  { others, messages }: Try<Verdict>,
  deps: CarryDeps,
): Promise<FirstAnswer[]> {
  const further = others.map((way, at) => carryAlso(messages[at + 1]!, way, claim, deps))
  return (await Promise.all([own, ...further])).filter(each => each !== null)
}

/**
 * Null where neither pool nor wallet covers it, or, without a key, where the database did not confirm it: the code is
 * being sent by another channel. With a key the response is stored for replays, and it is not known yet whether this
 * message will be sent or withdrawn: so the error is thrown, and a repeat gets the response.
 */
async function carryAlso(
  id: MessageId,
  prepared: Prepared,
  claim: KeyClaim | null,
  deps: CarryDeps,
): Promise<FirstAnswer | null> {
  const word = deps.waiters.wait(id, null)
  try {
    const verdict = await deps.acceptMessage(id, prepared, null)
    // It has no key of its own, but its first answer is part of a response that has one.
    return verdict.kind === 'accepted' ? await awaitFirstAnswer(deps, id, prepared, claim, word) : null
  } catch (error) {
    if (claim || !(error instanceof DatabaseUnavailable)) throw error
    return null
  } finally {
    deps.waiters.remove(id)
  }
}
