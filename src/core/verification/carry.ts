import type { ChannelOrder } from '../../contract/verification.ts'
import { DatabaseUnavailable } from '../../infra/db.ts'
import type { Ids, MessageId } from '../../lib/ids.ts'
import type { Breach, Guard, GuardedSend } from '../fraud/guard.ts'
import type { AcceptMessage } from '../messages/accept-message.ts'
import { awaitFirstAnswer, type FirstAnswer, type FirstAnswerDeps } from '../messages/first-answer.ts'
import type { AcceptRow, KeyClaim } from '../messages/hot-store.ts'
import type { Prepared } from '../messages/prepare.ts'
import type { FirstOutcome } from '../messages/waiters.ts'

/** How a code goes out: at least one way, the first of them the one that routing likes best. */
export type Ways = {
  first: Prepared
  others: readonly Prepared[]
  /** How the order of the first one's channels was learned; null where it was not asked for. */
  order: ChannelOrder | null
}

export type CarryDeps = FirstAnswerDeps & { ids: Ids; guard: Guard; acceptMessage: AcceptMessage }

/** A code that the guard let pass, and how it is stored. */
export type Passed<Verdict> = {
  /** Of its first message. */
  id: MessageId
  claim: KeyClaim | null
  guarded: GuardedSend
  /** Stores the first message with what it belongs to; `messages` are all that are to carry the code. */
  add(row: AcceptRow, messages: readonly MessageId[]): Promise<Verdict>
  /** Frees the key, which a way that nothing covers has taken with it. */
  freeKey(): Promise<void>
  /** Whether it is stored is known. */
  decided(): void
}

/** What became of a code that was accepted. */
export type Heard = { kind: 'heard'; told: readonly FirstAnswer[] }

/** There was no turn for it (fraud/guard.ts). */
export type Late = { kind: 'blocked'; breach: Breach }

/** The first message of a code, on one way; the others are still to be gone. */
type Try<Verdict> = {
  first: Prepared
  others: readonly Prepared[]
  messages: readonly MessageId[]
  word: Promise<FirstOutcome | null>
  verdict: Promise<Verdict>
}

/**
 * Accepts the messages that carry one code, and hears what becomes of them. The first is
 * accepted together with its verification, by `code.add`; the others follow as ordinary sends,
 * each of which pays for itself and fails alone. Where nothing covers the first, the next one
 * comes first; the last verdict is given back. The guard is told whether anything came of it:
 * what no channel took is no code.
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
    // If this throws from here on, the code may have gone out all the same.
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

/** What is told of the first message, and of those that follow it. */
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
 * Null where nothing covers it, or, without a key, where the store would not confirm it: the code is on its
 * way by another channel. With a key what is said now is said for ever, and whether this message goes out is
 * not known before it is taken back, or vouched for: whoever asks again is told.
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
    // It has no key of its own; but what is told of it is part of an answer that has one.
    return verdict.kind === 'accepted' ? await awaitFirstAnswer(deps, id, prepared, claim, word) : null
  } catch (error) {
    if (claim || !(error instanceof DatabaseUnavailable)) throw error
    return null
  } finally {
    deps.waiters.remove(id)
  }
}
