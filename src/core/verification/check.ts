import type { Caller } from '../../contract/caller.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { VerificationCheck, Verified } from '../../contract/verification.ts'
import { createBatcher } from '../../infra/batch.ts'
import { DatabaseUnavailable, type Db } from '../../infra/db.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import type { RequestId } from '../../lib/ids.ts'
import { normalizeCode } from '../../lib/one-time-code.ts'
import type { Phones } from '../../lib/phone.ts'
import type { Guard } from '../fraud/guard.ts'
import type { Codes } from './codes.ts'
import { exhausted, MAX_TRIES, unknownVerification } from './rules.ts'
import { type CheckRow, type CheckVerdict, checkCodes } from './store.ts'
import { readVerificationRef, recipientMismatch } from './verification-ref.ts'

export type CheckDeps = {
  db: Db
  clock: Clock
  phones: Phones
  codes: Codes
  guard: Guard
  observe?(items: number): void
}

export type CheckRequest = { requestId: RequestId; caller: Caller; body: VerificationCheck }

export type Checks = {
  /**
   * Verifies, or throws the Problem that prevents it. A code that cannot be one (not 4 to 8
   * digits) is a 400 and costs no try; any other that is not right costs one.
   */
  check(request: CheckRequest): Promise<Verified>
}

/** The lengths of codes that an account may set. */
const LENGTHS = { least: 4, most: 8 }
/** How long a check waits for a database that is down, in ms. */
const PATIENCE_MS = 3_000
/** Two names of one verification in one flush are checked one after the other. */
const MAX_LOOKS = 5

/** `key`: identifies the verification; entries with the same key are checked one at a time. */
type Entry = { row: CheckRow; key: string }

/** Checks codes, many in one transaction; those about the same verification never share one. */
export function createChecks(deps: CheckDeps): Checks {
  const { db, clock, codes } = deps
  const batcher = createBatcher<Entry, CheckVerdict>({ flush, conflictKey: ({ key }) => key })

  async function check({ requestId, caller, body }: CheckRequest): Promise<Verified> {
    const row = readCheck(requestId, caller, body)
    let key = keyOf(row)
    for (let look = 0; look < MAX_LOOKS; look++) {
      const verdict = await batcher.add({ row, key })
      if (verdict.kind !== 'later') return conclude(verdict, caller)
      // From here on it queues with the checks that name the id.
      key = verdict.id ?? key
    }
    throw new DatabaseUnavailable(new Error(`a check was deferred ${MAX_LOOKS} times`))
  }

  function readCheck(checkId: RequestId, { account, mode }: Caller, body: VerificationCheck): CheckRow {
    const which = readVerificationRef(body, deps.phones)
    const code = normalizeCode(body.code)
    if (code === null || code.length < LENGTHS.least || code.length > LENGTHS.most) {
      throw invalid('code', `must be ${LENGTHS.least} to ${LENGTHS.most} digits`)
    }
    const codeDigest = codes.digest({ accountId: account.id, mode }, code)
    return { accountId: account.id, live: mode === 'live', ...which, codeDigest, checkId }
  }

  /** A flush whose response was lost is repeated: it recognises the tries that it counted. */
  async function flush(entries: Entry[]): Promise<CheckVerdict[]> {
    deps.observe?.(entries.length)
    const rows = entries.map(({ row }) => row)
    const untilMs = clock.monotonic() + PATIENCE_MS
    return retryWhileUnavailable(
      clock,
      () => clock.monotonic() < untilMs,
      () => checkCodes(db, clock.now(), rows),
    )
  }

  function conclude(verdict: CheckVerdict, { account, mode }: Caller): Verified {
    const nowMs = clock.now()
    switch (verdict.kind) {
      case 'right':
        deps.guard.verified({
          accountId: account.id,
          verificationId: verdict.id!,
          mode,
          recipient: verdict.recipient!,
          country: verdict.country,
          nowMs,
        })
        return {
          success: true,
          verificationId: verdict.id!,
          status: 'verified',
          verifiedAt: toIso(verdict.verifiedAt),
        }
      case 'wrong':
        throw new Problem('VERIFICATION_CODE_INVALID', undefined, {
          extra: { attemptsRemaining: MAX_TRIES - verdict.tries },
        })
      case 'used':
        throw new Problem('VERIFICATION_ALREADY_USED')
      case 'expired':
        throw new Problem('VERIFICATION_EXPIRED')
      case 'exhausted':
        throw exhausted(verdict.expiresAt, nowMs)
      case 'disagrees':
        throw recipientMismatch()
      default:
        throw unknownVerification()
    }
  }

  return { check }
}

function keyOf({ id, accountId, live, recipientKey }: CheckRow): string {
  return id ?? `${accountId} ${live} ${recipientKey}`
}
