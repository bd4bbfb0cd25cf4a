import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { VerificationSend } from '../../contract/verification.ts'
import { type RequestId, sameAs } from '../../lib/ids.ts'
import type { Guard } from '../fraud/guard.ts'
import type { Accept } from '../messages/accept.ts'
import { type Answer, insufficientAnswer, problemAnswer } from '../messages/answers.ts'
import type { Told } from '../messages/first-word.ts'
import type { AcceptVerdict, ExistingKey, KeyClaim } from '../messages/hot-store.ts'
import type { Idempotency } from '../messages/idempotency.ts'
import { dropKeyOf } from '../messages/idempotency-store.ts'
import type { ResolveDeps } from '../messages/resolve.ts'
import { SANDBOX } from '../routing/route.ts'
import { endVerifications, type Start, type StartRow } from './accept-store.ts'
import { attemptAnswer, type CodeFacts, expiryOf, refusedAnswer } from './answers.ts'
import { type CarryDeps, carry, isCarried, type Ways } from './carry.ts'
import type { Codes } from './codes.ts'
import { keepRequest, readWanted, type Wanted } from './request.ts'
import { resendAtMs } from './rules.ts'
import { askGuard, carryGuarded, findWays, guardedSend } from './ways.ts'

export type StartDeps = ResolveDeps &
  CarryDeps & {
    codes: Codes
    guard: Guard
    starts: Accept<StartRow, AcceptVerdict>
    idempotency: Idempotency
  }

export type StartRequest = {
  requestId: RequestId
  caller: Caller
  /** As sent; valid unless `fault` says otherwise. */
  body: VerificationSend
  fault: Problem | null
  headerKey: string | undefined
}

export type StartVerification = (request: StartRequest) => Promise<Answer>

/**
 * Begins a verification: a code is drawn, routed and priced like any send of a
 * code, judged by the guard, and accepted in one transaction with the
 * verification that supersedes the recipient's earlier one. The attempt, its first
 * message and the request are one event, and share the digits of their ids.
 */
export function createStart(deps: StartDeps): StartVerification {
  const { clock, codes, guard, idempotency } = deps

  async function start(request: StartRequest): Promise<Answer> {
    let claim: KeyClaim | null = null
    try {
      claim = idempotency.claim(request.headerKey, request.body)
      if (request.fault) throw request.fault
      const { account } = request.caller
      const wanted = readWanted(request.body, account, deps.phones)
      const code = codes.draw(account.verification.codeLength)
      const ways = await findWays(wanted, code, request.caller, deps)
      if ('problem' in ways) return await refuse(ways.problem, claim, request, ways.saidBy)
      return await judgeAndSend(wanted, code, ways, claim, request)
    } catch (error) {
      if (error instanceof Problem) return refuse(error, claim, request)
      throw error
    }
  }

  /** A refusal before acceptance; with a key it is stored first, or gives way to what the key says already. */
  async function refuse(
    problem: Problem,
    claim: KeyClaim | null,
    request: StartRequest,
    saidBy: string | null = null,
  ): Promise<Answer> {
    const id = sameAs('msg', request.requestId)
    const answer = { ...problemAnswer(problem, id), sandbox: saidBy === SANDBOX }
    const storable = problem.status < 500 && ![401, 409, 413, 429].includes(problem.status)
    if (!claim || !storable) return answer
    const existing = await idempotency.storeRefusal(request.caller.account.id, claim, answer)
    return existing ? replay(existing, claim, request) : answer
  }

  async function judgeAndSend(
    wanted: Wanted,
    code: string,
    ways: Ways,
    claim: KeyClaim | null,
    request: StartRequest,
  ): Promise<Answer> {
    const guarded = guardedSend(wanted, ways, false, clock.now())
    const blocked = await askGuard(guard, guarded)
    if (blocked) return block(blocked, claim, request)

    const { caller } = request
    const id = sameAs('msg', request.requestId)
    const attempt: CodeFacts = {
      id: sameAs('ver', request.requestId),
      resends: 0,
      sentAt: clock.now(),
      validityMinutes: caller.account.verification.validityMinutes,
    }
    const begun = describeStart(attempt, wanted, code, request)
    const carried = await carryGuarded(guard, guarded, attempt.id, () =>
      carry(id, ways, claim, {
        ...deps,
        add: (row, messages) => deps.starts.add({ ...row, start: { ...begun, messages } }),
        freeKey: () => dropKeyOf(deps.db, caller.account.id, claim!, id),
      }),
    )
    if (isCarried(carried)) {
      return conclude(attempt, carried.fannedOut, await carried.told(), request)
    }
    switch (carried.kind) {
      case 'exists':
        return replay(carried, claim!, request)
      case 'faulty':
        throw carried.cause
      default:
        return insufficientAnswer(id, false)
    }
  }

  /** Whoever has an answer already gets it again: the guard has a say on new codes alone. */
  async function block(problem: Problem, claim: KeyClaim | null, request: StartRequest): Promise<Answer> {
    const existing = claim && (await idempotency.find(request.caller.account.id, claim))
    return existing
      ? replay(existing, claim, request)
      : problemAnswer(problem, sameAs('msg', request.requestId))
  }

  function describeStart(
    attempt: CodeFacts,
    { recipient }: Wanted,
    code: string,
    { caller, body }: StartRequest,
  ): Omit<Start, 'messages'> {
    const owner = { accountId: caller.account.id, mode: caller.mode, recipientKey: recipient.key }
    return {
      verificationId: attempt.id,
      recipientKey: recipient.key,
      codeHash: codes.hashFor(attempt.id, code),
      recipientHash: codes.hashForRecipient(owner, code),
      validityMinutes: attempt.validityMinutes,
      startedAt: attempt.sentAt,
      expiresAt: expiryOf(attempt),
      resendAt: resendAtMs(0, attempt.sentAt)!,
      request: keepRequest(body),
    }
  }

  /** Refused by every channel, it ends, and the recipient's earlier code counts again: an error changes nothing. */
  async function conclude(
    attempt: CodeFacts,
    fannedOut: boolean,
    told: readonly Told[],
    { caller }: StartRequest,
  ): Promise<Answer> {
    const answer = attemptAnswer({ ...attempt, fannedOut }, told, false)
    if (answer) return answer
    await endVerifications(deps.db, clock.now(), [{ accountId: caller.account.id, id: attempt.id }])
    return refusedAnswer(told, false)
  }

  async function replay(existing: ExistingKey, claim: KeyClaim, request: StartRequest): Promise<Answer> {
    const { account } = request.caller
    const answer = await idempotency.replay(account, claim, existing)
    if (answer === 'free') return start(request)
    return answer instanceof Problem ? problemAnswer(answer, sameAs('msg', request.requestId)) : answer
  }

  return start
}
