import type { AccountSnapshot } from '../../contract/caller.ts'
import type { VerificationView } from '../../contract/verification.ts'
import type { Db } from '../../infra/db.ts'
import { type Clock, isoOrNull, toIso } from '../../lib/clock.ts'
import { type AccountId, isId, type MessageId, withPrefix } from '../../lib/ids.ts'
import { confirmMessages } from '../messages/confirm-store.ts'
import { type FirstAnswer, fixFirstAnswer } from '../messages/first-answer.ts'
import type { KeyedAnswers } from '../messages/idempotency.ts'
import { endVerifications } from './accept-store.ts'
import { attemptAnswer, refusedAnswer } from './answers.ts'
import { isResendable, MAX_TRIES, statusOf, unknownVerification } from './rules.ts'
import { readVerification, selectAccepted, startIsPending, type VerificationRow } from './store.ts'

export type Verifications = {
  /** The verification of that id, of either key mode. NOT_FOUND for another account's. */
  read(accountId: AccountId, id: string): Promise<VerificationView>
}

export function createVerifications({ db, clock }: { db: Db; clock: Clock }): Verifications {
  /** A crash between the channels of one code leaves messages that were never accepted. */
  async function acceptedMessages(row: VerificationRow, accountId: AccountId): Promise<MessageId[]> {
    const hasOneEach = row.messages.length === row.resends + 1
    return hasOneEach ? row.messages : selectAccepted(db, accountId, row.messages)
  }

  return {
    async read(accountId, id) {
      const nowMs = clock.now()
      const row = isId('ver', id) ? await readVerification(db, accountId, id, nowMs) : null
      if (!row) throw unknownVerification()
      return viewVerification({ ...row, messages: await acceptedMessages(row, accountId) }, nowMs)
    },
  }
}

function viewVerification(row: VerificationRow, nowMs: number): VerificationView {
  return {
    verificationId: row.id,
    mode: row.live ? 'live' : 'test',
    status: statusOf(row, nowMs),
    to: row.recipient,
    country: row.country,
    channel: row.channel,
    messageIds: row.messages,
    attemptsRemaining: MAX_TRIES - row.tries,
    resendCount: row.resends,
    createdAt: toIso(row.startedAt),
    expiresAt: toIso(row.expiresAt),
    resendAvailableAt: isResendable(row, nowMs) ? toIso(row.resendAt) : null,
    verifiedAt: isoOrNull(row.verifiedAt),
  }
}

/** Rebuilds the response to a start from the rows of its first code, whatever happened since. */
export function createStartAnswers({ db, clock }: { db: Db; clock: Clock }): KeyedAnswers {
  /** The messages that it started with, except withdrawn ones, which no response has mentioned. */
  async function confirmedMessages(row: VerificationRow, accountId: AccountId): Promise<MessageId[]> {
    const ids = row.messages.slice(0, row.startedWith)
    // The first one is confirmed with its key.
    const further = ids.length > 1 ? await confirmMessages(db, accountId, ids.slice(1)) : null
    return further ? ids.filter(each => !further.get(each)?.isWithdrawn) : ids
  }

  async function answersOf(row: VerificationRow, { id, currency }: AccountSnapshot): Promise<FirstAnswer[]> {
    const ids = await confirmedMessages(row, id)
    const answers = await Promise.all(ids.map(message => fixFirstAnswer(db, id, message, currency)))
    // A message that neither pool nor wallet covered does not exist.
    return answers.filter(each => each !== null)
  }

  async function fixFirst(account: AccountSnapshot, id: MessageId) {
    const row = await readVerification(db, account.id, withPrefix('ver', id), clock.now())
    if (!row) return null
    const answers = await answersOf(row, account)
    const attempt = {
      id: row.id,
      resends: 0,
      sentAt: row.startedAt,
      validityMinutes: row.validityMinutes,
      fansOut: row.request?.fansOut ?? row.startedWith > 1,
      order: row.request?.order ?? null,
    }
    const answer = attemptAnswer(attempt, answers)
    if (answer) return answer
    // The node of the first request may have died before this.
    await endVerifications(db, clock.now(), [{ accountId: account.id, id: row.id }])
    return refusedAnswer(answers)
  }

  return {
    fixFirst,
    async isPending(accountId, id) {
      const row = await readVerification(db, accountId, withPrefix('ver', id), clock.now())
      return row !== null && startIsPending(db, accountId, row.id, row.startedAt)
    },
  }
}
