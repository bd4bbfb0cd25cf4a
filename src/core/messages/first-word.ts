import { DatabaseUnavailable, type Db } from '../../infra/db.ts'
import { type Clock, withinMs } from '../../lib/clock.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { type Answer, type AnswerFacts, type FailureFacts, failedAnswer, sentAnswer } from './answers.ts'
import type { KeyClaim } from './hot-store.ts'
import { fixAnswer } from './idempotency-store.ts'
import { readAnswerFacts } from './message-store.ts'
import type { Prepared } from './prepare.ts'
import type { FirstWord, Waiters } from './waiters.ts'

/** What the sender of a message is told first, and whenever he asks again. */
export type Told =
  | { answer: 'sent' | 'queued' | 'scheduled'; facts: AnswerFacts }
  | { answer: 'failed'; facts: AnswerFacts; failure: FailureFacts }

export type FirstWordDeps = { db: Db; clock: Clock; waiters: Waiters; syncWaitMs: number }

/** Waits for the provider's word, at most `syncWaitMs`; what is said here is what a replay says. */
export async function hearFirst(
  deps: FirstWordDeps,
  id: MessageId,
  prepared: Prepared,
  claim: KeyClaim | null,
  word: Promise<FirstWord | null>,
): Promise<Told> {
  const facts = { id, ...prepared }
  const first = await withinMs(deps.clock, deps.syncWaitMs, word)
  deps.waiters.forget(id)
  if (first && isFrom(prepared, first)) {
    return first.answer === 'failed'
      ? {
          answer: 'failed',
          facts,
          failure: { errorCode: first.errorCode!, errorDetail: first.errorDetail },
        }
      : { answer: first.answer, facts }
  }
  // A web session's message may have been sent by the node that holds the session: then the store has the word.
  if (!first && !claim && prepared.senderSource !== 'session') return { answer: 'queued', facts }
  const told = readTold(deps.db, prepared.accountId, id, prepared.currency)
  return (await (claim ? told : told.catch(unlessAway))) ?? { answer: 'queued', facts }
}

/** It is accepted: whoever got a 503 for a database that is away now, and has no key, would send it twice. */
function unlessAway(error: unknown): null {
  if (error instanceof DatabaseUnavailable) return null
  throw error
}

/** A failover brings a message elsewhere: then the store has the words. */
function isFrom({ channel, connectionId }: Prepared, word: FirstWord): boolean {
  return word.channel === channel && word.connectionId === connectionId
}

/** Settles what a message's sender is told first, now; null when there is no such message. */
export async function readTold(
  db: Db,
  accountId: AccountId,
  id: MessageId,
  currency: string,
): Promise<Told | null> {
  const answer = await fixAnswer(db, accountId, id)
  if (answer === null) return null
  const stored = await readAnswerFacts(db, accountId, id)
  const facts = { ...stored.facts, currency }
  return answer === 'failed' ? { answer, facts, failure: stored.failure! } : { answer, facts }
}

/** The answer to a send that was accepted. */
export function toldAnswer(told: Told, replayed: boolean): Answer {
  return told.answer === 'failed'
    ? failedAnswer(told.facts, told.failure, replayed)
    : sentAnswer(told.facts, told.answer, replayed)
}
