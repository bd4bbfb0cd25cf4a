import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { ChannelOrder, VerificationSend } from '../../contract/verification.ts'
import { type RequestId, sameAs } from '../../lib/ids.ts'
import type { Breach, Guard, GuardedSend, Turn } from '../fraud/guard.ts'
import type { Accept } from '../messages/accept.ts'
import { type Answer, insufficientAnswer, problemAnswer } from '../messages/answers.ts'
import type { ExistingKey, KeyClaim } from '../messages/hot-store.ts'
import { type Idempotency, isDecision } from '../messages/idempotency.ts'
import { dropKeyOf } from '../messages/idempotency-store.ts'
import { SANDBOX } from '../routing/route.ts'
import { endVerifications, type Start, type StartRow, type StartVerdict } from './accept-store.ts'
import { type AttemptFacts, attemptAnswer, type CodeFacts, refusedAnswer } from './answers.ts'
import { type Carriage, type CarryDeps, carry, type Ways } from './carry.ts'
import type { Codes } from './codes.ts'
import { createKeysAtWork } from './keys-at-work.ts'
import { keepRequest, readWanted, type Wanted } from './request.ts'
import {
  carryGuarded,
  findWays,
  guardedSend,
  type Heard,
  isHeard,
  refuseBlocked,
  type WaysDeps,
} from './ways.ts'

export type StartDeps = WaysDeps &
  CarryDeps & {
    codes: Codes
    guard: Guard
    starts: Accept<StartRow, StartVerdict>
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
  const keysAtWork = createKeysAtWork()

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
      return await inTurn(claim, request, accepted =>
        judgeAndSend(wanted, code, ways, claim, request, accepted),
      )
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
    if (!claim) return answer
    const { id: accountId } = request.caller.account
    // What the key said once stands, though the way that it went is closed by now.
    const existing = isDecision(problem)
      ? await idempotency.storeRefusal(accountId, claim, answer)
      : await idempotency.find(accountId, claim)
    return existing ? replay(existing, claim, request) : answer
  }

  /** Requests of one key go one after the other; `accepted` lets the next one go. */
  async function inTurn(
    claim: KeyClaim | null,
    request: StartRequest,
    work: (accepted: () => void) => Promise<Answer>,
  ): Promise<Answer> {
    if (!claim) return work(() => {})
    const { id } = request.caller.account
    let end = keysAtWork.begin(id, claim)
    if (end instanceof Promise) {
      await end
      const existing = await idempotency.find(id, claim)
      if (existing) return replay(existing, claim, request)
      end = keysAtWork.take(id, claim)
    }
    try {
      return await work(end)
    } finally {
      end()
    }
  }

  async function judgeAndSend(
    wanted: Wanted,
    code: string,
    ways: Ways,
    claim: KeyClaim | null,
    request: StartRequest,
    accepted: () => void,
  ): Promise<Answer> {
    const guarded = guardedSend(wanted, ways, false, clock.now())
    const judged = guard.judge(guarded)
    const verdict = judged instanceof Promise ? await judged : judged
    if (verdict.verdict === 'block') return block(guarded, verdict, claim, request)

    const { caller } = request
    const id = sameAs('msg', request.requestId)
    const attempt: CodeFacts = {
      id: sameAs('ver', request.requestId),
      resends: 0,
      sentAt: guarded.nowMs,
      validityMinutes: caller.account.verification.validityMinutes,
    }
    const store = storeOf(
      describeStart(attempt, wanted, code, ways.order, verdict.turn, request),
      claim,
      request,
      accepted,
    )
    const carried = await carryGuarded(guard, guarded, attempt.id, () => carry(id, ways, claim, store, deps))
    if (isHeard(carried))
      return conclude({ ...attempt, order: ways.order, fansOut: wanted.fansOut }, carried, request)
    switch (carried.kind) {
      case 'blocked':
        return block(guarded, carried.breach, claim, request)
      case 'exists':
        return replay(carried, claim!, request)
      case 'faulty':
        throw carried.cause
      default:
        return insufficientAnswer(id, false)
    }
  }

  /** Together with its verification; then the next request of the key goes on. */
  function storeOf(
    begun: Omit<Start, 'messages'>,
    claim: KeyClaim | null,
    { caller }: StartRequest,
    accepted: () => void,
  ): Carriage<StartVerdict> {
    return {
      add(row, messages) {
        const verdict = deps.starts.add({ ...row, start: { ...begun, messages } })
        verdict.then(accepted, accepted)
        return verdict
      },
      freeKey: () => dropKeyOf(deps.db, caller.account.id, claim!, sameAs('msg', begun.verificationId)),
    }
  }

  /** Whoever has an answer already gets it again: the guard has a say on new codes alone. */
  async function block(
    send: GuardedSend,
    breach: Breach,
    claim: KeyClaim | null,
    request: StartRequest,
  ): Promise<Answer> {
    const existing = claim && (await idempotency.find(request.caller.account.id, claim))
    if (existing) return replay(existing, claim, request)
    return problemAnswer(await refuseBlocked(guard, send, breach), sameAs('msg', request.requestId))
  }

  function describeStart(
    attempt: CodeFacts,
    { recipient, fansOut }: Wanted,
    code: string,
    order: ChannelOrder | null,
    turn: Turn | null,
    { caller, body }: StartRequest,
  ): Omit<Start, 'messages'> {
    return {
      turn,
      verificationId: attempt.id,
      recipientKey: recipient.key,
      codeMark: () => codes.mark({ accountId: caller.account.id, mode: caller.mode }, code),
      validityMinutes: attempt.validityMinutes,
      startedAt: attempt.sentAt,
      request: keepRequest(body, order, fansOut),
    }
  }

  /** Refused by every channel, it ends, and the recipient's earlier code counts again: an error changes nothing. */
  async function conclude(attempt: AttemptFacts, { told }: Heard, { caller }: StartRequest): Promise<Answer> {
    const answer = attemptAnswer(attempt, told, false)
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
