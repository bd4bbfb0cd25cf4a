import { DatabaseUnavailable, type Db } from '../../infra/db.ts'
import { type Clock, withinMs } from '../../lib/clock.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { type Answer, type AnswerFacts, type FailureFacts, failedAnswer, sentAnswer } from './answers.ts'
import type { KeyClaim } from './hot-store.ts'
import { fixAnswer } from './idempotency-store.ts'
import { readAnswerFacts } from './message-store.ts'
import type { Prepared } from './prepare.ts'
import type { FirstOutcome, Waiters } from './waiters.ts'

/** The first answer to a send whose message was accepted; every replay of the request repeats it. */
export type FirstAnswer =
  | { answer: 'sent' | 'queued' | 'scheduled'; facts: AnswerFacts }
  | { answer: 'failed'; facts: AnswerFacts; failure: FailureFacts }

export type FirstAnswerDeps = { db: Db; clock: Clock; waiters: Waiters; syncWaitMs: number }

/** Waits for the first outcome, at most `syncWaitMs`, and returns the answer for it; `queued` if there is none by then. */
export async function awaitFirstAnswer(
  deps: FirstAnswerDeps,
  id: MessageId,
  prepared: Prepared,
  claim: KeyClaim | null,
  outcome: Promise<FirstOutcome | null>,
): Promise<FirstAnswer> {
  const facts = { id, ...prepared }
  const first = await withinMs(deps.clock, deps.syncWaitMs, outcome)
  deps.waiters.remove(id)
  if (first && hasSameRoute(prepared, first)) {
    return first.answer === 'failed'
      ? {
          answer: 'failed',
          facts,
          failure: { errorCode: first.errorCode!, errorDetail: first.errorDetail },
        }
      : { answer: first.answer, facts }
  }
  // Without a key there is no replay, so the answer to a wait that is over need not be stored. But a message over a web
  // session may have been sent by the node that holds the session: then the outcome is in the database.
  if (first === false && !claim && prepared.senderSource !== 'session') return { answer: 'queued', facts }
  const stored = fixFirstAnswer(deps.db, prepared.accountId, id, prepared.currency)
  return (await (claim ? stored : stored.catch(nullIfUnavailable))) ?? { answer: 'queued', facts }
}

/** Null if the database is unavailable: the message is accepted, and a 503 would make the sender send it twice. */
function nullIfUnavailable(error: unknown): null {
  if (error instanceof DatabaseUnavailable) return null
  throw error
}

/** False after a failover, which changes channel, connection and price: then they are read from the database. */
function hasSameRoute({ channel, connectionId }: Prepared, outcome: FirstOutcome): boolean {
  return outcome.channel === channel && outcome.connectionId === connectionId
}

/** Stores the first answer if there is none yet, and reads it; null if there is no such message. */
export async function fixFirstAnswer(
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

/** The first answer as a response. */
export function renderFirstAnswer(first: FirstAnswer): Answer {
  return first.answer === 'failed'
    ? failedAnswer(first.facts, first.failure)
    : sentAnswer(first.facts, first.answer)
}
