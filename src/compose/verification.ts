import { createAccept } from '../core/messages/accept.ts'
import { createIdempotency } from '../core/messages/idempotency.ts'
import { RESENDS, STARTS, turnKeyOf, VERIFICATION_OPERATION } from '../core/verification/accept-store.ts'
import { createChecks } from '../core/verification/check.ts'
import { createCodes } from '../core/verification/codes.ts'
import { createLearnedOrders, type LearnedOrders } from '../core/verification/learned.ts'
import { sweepLearned } from '../core/verification/learned-store.ts'
import { createStartAnswers, createVerifications } from '../core/verification/read.ts'
import { createResend } from '../core/verification/resend.ts'
import { createStart } from '../core/verification/start.ts'
import { DAY_MS, HOUR_MS } from '../lib/durations.ts'
import type { Chore } from '../workers/chores.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { Foundation } from './foundation.ts'
import type { FraudRooms } from './fraud.ts'
import type { MessageRooms } from './messages.ts'

/** Verifications: starting, resending and checking codes, and learning which channels work. */
export function createVerificationRooms(
  base: Foundation,
  { planning, acceptMessage, waiters }: MessageRooms,
  { guard }: FraudRooms,
  lease: NodeLease,
) {
  const { config, db, clock, ids, random, seal, metrics, phones } = base
  const codes = createCodes({ random, seal })
  const learned = createLearnedOrders({ db, clock, random })
  const starts = createAccept({
    db,
    clock,
    store: STARTS,
    node: lease.id,
    observe: items => metrics.batch('accept_verifications', items),
    conflict: turnKeyOf,
  })
  const resends = createAccept({ db, clock, store: RESENDS, node: lease.id, maxItems: 1 })
  const sending = {
    ...planning,
    db,
    ids,
    acceptMessage,
    waiters,
    syncWaitMs: config.syncWaitMs,
    codes,
    guard,
    learned,
  }
  const checks = createChecks({
    db,
    clock,
    phones,
    codes,
    guard,
    observe: items => metrics.batch('check_codes', items),
  })
  return {
    startVerification: createStart({
      ...sending,
      starts,
      idempotency: createIdempotency({
        db,
        clock,
        seal,
        syncWaitMs: config.syncWaitMs,
        operation: VERIFICATION_OPERATION,
        answers: createStartAnswers({ db, clock }),
      }),
    }),
    resendVerification: createResend({ ...sending, resends }),
    checks,
    verifications: createVerifications({ db, clock }),
    learned,
    async withdrawUnconfirmed() {
      await starts.withdrawUnconfirmed()
      await resends.withdrawUnconfirmed()
    },
  }
}

/** Verifications are dropped by months (core/outbox/retention.ts). */
export const VERIFICATIONS_KEEP_MS = 30 * DAY_MS

/** After so many half-lives the learned counts have faded to nothing. */
const LEARNED_KEEP_MS = 90 * DAY_MS
/** How often what was learned of channels is read again. */
const REFRESH_EVERY_MS = 20_000

export function listVerificationChores(
  { db, clock }: Foundation,
  { learned }: { learned: LearnedOrders },
): Chore[] {
  return [
    { name: 'read channel statistics', everyMs: REFRESH_EVERY_MS, run: learned.refresh },
    {
      name: 'sweep channel statistics',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sweepLearned(db, clock.now() - LEARNED_KEEP_MS),
    },
  ]
}
