import { createAccept } from '../core/messages/accept.ts'
import { createIdempotency } from '../core/messages/idempotency.ts'
import { RESENDS, STARTS, VERIFICATION_OPERATION } from '../core/verification/accept-store.ts'
import { createChecks } from '../core/verification/check.ts'
import { createCodes } from '../core/verification/codes.ts'
import { createStartAnswers, createVerifications } from '../core/verification/read.ts'
import { createResend } from '../core/verification/resend.ts'
import { createStart } from '../core/verification/start.ts'
import { sweepHeads } from '../core/verification/store.ts'
import type { Chore } from '../workers/chores.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { Foundation } from './foundation.ts'
import type { FraudRooms } from './fraud.ts'
import type { MessageRooms } from './messages.ts'

/** Codes: sent over the way of every message, and what is kept of them until they come back. */
export function createVerificationRooms(
  base: Foundation,
  { planning, acceptMessage, waiters }: MessageRooms,
  { guard }: FraudRooms,
  lease: NodeLease,
) {
  const { config, db, clock, ids, random, seal, metrics, phones } = base
  const codes = createCodes({ random, seal })
  const starts = createAccept({
    db,
    clock,
    store: STARTS,
    node: lease.id,
    observe: items => metrics.batch('accept_verifications', items),
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
        syncWaitMs: config.syncWaitMs,
        operation: VERIFICATION_OPERATION,
        answers: createStartAnswers({ db, clock }),
      }),
    }),
    resendVerification: createResend({ ...sending, resends }),
    checks,
    verifications: createVerifications({ db, clock }),
    async withdrawUnconfirmed() {
      await starts.withdrawUnconfirmed()
      await resends.withdrawUnconfirmed()
    },
  }
}

/** The verifications themselves go by the month (core/outbox/retention.ts). */
export const VERIFICATIONS_KEEP_MS = 30 * 86_400_000
const MANY = 20_000

export function forgetVerifications({ db, clock }: Foundation): Chore {
  return {
    name: 'sweep verification heads',
    everyMs: 3_600_000,
    run: () => sweepHeads(db, clock.now() - VERIFICATIONS_KEEP_MS, MANY),
  }
}
