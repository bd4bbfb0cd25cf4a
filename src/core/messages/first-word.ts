import { DatabaseUnavailable, type Db } from '../../infra/db.ts'
import { type Clock, withinMs } from '../../lib/clock.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { type Answer, type AnswerFacts, type FailureFacts, failedAnswer, sentAnswer } from './answers.ts'
import type { KeyClaim } from './hot-store.ts'
import { fixAnswer } from './idempotency-store.ts'
import { readAnswerFacts } from './message-store.ts'
import type { Prepared } from './prepare.ts'
import type { FirstWord, Waiters } from './waiters.ts'

/** The answer to a send once the message is accepted: every replay of the request repeats it. */
export type FirstAnswer =
  | { answer: 'sent' | 'queued' | 'scheduled'; facts: AnswerFacts }
  | { answer: 'failed'; facts: AnswerFacts; failure: FailureFacts }

export type FirstWordDeps = { db: Db; clock: Clock; waiters: Waiters; syncWaitMs: number }

/** Waits for the first outcome, at most `syncWaitMs`, and answers with it; `queued` where there is none by then. */
export async function hearFirst(
  deps: FirstWordDeps,
  id: MessageId,
  prepared: Prepared,
  claim: KeyClaim | null,
  word: Promise<FirstWord | null>,
): Promise<FirstAnswer> {
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
  // Without a key nobody asks again, and nothing need be fixed. But over a web session another node, which
  // holds the session, may have sent the message: then the store has the outcome.
  if (!first && !claim && prepared.senderSource !== 'session') return { answer: 'queued', facts }
  const told = readFirstAnswer(deps.db, prepared.accountId, id, prepared.currency)
  return (await (claim ? told : told.catch(unlessAway))) ?? { answer: 'queued', facts }
}

/** The message is accepted: a 503 now would make a sender without an idempotency key send it twice. */
function unlessAway(error: unknown): null {
  if (error instanceof DatabaseUnavailable) return null
  throw error
}

/** Not after a failover, which gives the message another channel, connection and price: then the store has them. */
function isFrom({ channel, connectionId }: Prepared, word: FirstWord): boolean {
  return word.channel === channel && word.connectionId === connectionId
}

/** Fixes the first answer now if there is none yet, and reads it; null when there is no such message. */
export async function readFirstAnswer(
  db: Db,
  accountId: AccountId,
  id: MessageId,
  currency: string,
): Promise<FirstAnswer | null> {
  const answer = await fixAnswer(db, accountId, id)
  if (answer === null) return null
  const stored = await readAnswerFacts(db, accountId, id)
  const facts = { ...stored.facts, currency }
  return answer === 'failed' ? { answer, facts, failure: stored.failure! } : { answer, facts }
}

/** As the response that goes out. */
export function renderFirstAnswer(told: FirstAnswer, replayed: boolean): Answer {
  return told.answer === 'failed'
    ? failedAnswer(told.facts, told.failure, replayed)
    : sentAnswer(told.facts, told.answer, replayed)
}
