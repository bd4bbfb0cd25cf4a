import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { VerificationSend } from '../../contract/verification.ts'
import { type RequestId, withPrefix } from '../../lib/ids.ts'
import type { Breach, Guard, GuardedSend, Turn } from '../fraud/guard.ts'
import type { Accept } from '../messages/accept.ts'
import { type Answer, insufficientAnswer, problemAnswer } from '../messages/answers.ts'
import type { FirstAnswer } from '../messages/first-answer.ts'
import type { ExistingKey, Faulty, KeyClaim } from '../messages/hot-store.ts'
import type { Idempotency } from '../messages/idempotency.ts'
import { dropMessageKey } from '../messages/idempotency-store.ts'
import { refuseOnce } from '../messages/refuse.ts'
import {
  type AcceptCodeDeps,
  acceptCode,
  type LimitReached,
  type PassedCode,
  type RoutedCode,
} from './accept-code.ts'
import {
  dropMessage,
  endVerifications,
  type Start,
  type StartRow,
  type StartVerdict,
} from './accept-store.ts'
import { attemptAnswer, type CodeFacts, refusedAnswer } from './answers.ts'
import { guardedSend, type RouteCodeDeps, refuseBlocked, routeCode } from './code-routes.ts'
import type { Codes } from './codes.ts'
import { createKeysInProgress } from './keys-in-progress.ts'
import { type CodeRequest, readCodeRequest, storedRequestOf } from './request.ts'

export type StartDeps = RouteCodeDeps &
  AcceptCodeDeps & {
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

/** A start that is valid and routed: its request, its code, and the messages that can carry it. */
type RoutedStart = {
  request: StartRequest
  claim: KeyClaim | null
  wanted: CodeRequest
  code: string
  ways: RoutedCode
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
  const keysInProgress = createKeysInProgress()

  async function start(request: StartRequest): Promise<Answer> {
    let claim: KeyClaim | null = null
    try {
      claim = idempotency.claim(request.headerKey, request.body)
      if (request.fault) throw request.fault
      const { account } = request.caller
      const wanted = readCodeRequest(request.body, account, deps.phones)
      const code = codes.draw(account.verification.codeLength)
      const ways = await routeCode(wanted, code, request.caller, deps)
      if ('problem' in ways) return await refuse(ways.problem, claim, request, ways.refusedBy)
      return await serialiseByKey({ request, claim, wanted, code, ways })
    } catch (error) {
      if (error instanceof Problem) return refuse(error, claim, request)
      throw error
    }
  }

  function refuse(
    problem: Problem,
    claim: KeyClaim | null,
    request: StartRequest,
    refusedBy: string | null = null,
  ): Promise<Answer> {
    const id = withPrefix('msg', request.requestId)
    const refused = { problem, id, accountId: request.caller.account.id, claim, refusedBy }
    return refuseOnce(refused, idempotency, (existing, claim) => replay(existing, claim, request))
  }

  /** Requests of one key go one after the other. */
  function serialiseByKey(asked: RoutedStart): Promise<Answer> {
    const { claim, request } = asked
    if (!claim) return judgeAndSend(asked, endOfNone)
    const end = keysInProgress.begin(request.caller.account.id, claim)
    return end instanceof Promise ? sendAfter(end, asked, claim) : judgeAndSend(asked, end)
  }

  /** Waits for the request before it, and gets the same response. */
  async function sendAfter(end: Promise<void>, asked: RoutedStart, claim: KeyClaim): Promise<Answer> {
    const { id } = asked.request.caller.account
    await end
    const existing = await idempotency.find(id, claim)
    if (existing) return replay(existing, claim, asked.request)
    return judgeAndSend(asked, keysInProgress.take(id, claim))
  }

  /** `end` lets the next request of the key go on. */
  async function judgeAndSend(asked: RoutedStart, end: () => void): Promise<Answer> {
    try {
      const { request, ways } = asked
      const guarded = guardedSend(asked.wanted, ways, false, clock.now())
      const judged = guard.judge(guarded)
      const verdict = judged instanceof Promise ? await judged : judged
      if (verdict.verdict === 'block') {
        // The stored response may have expired, so that this is a new start.
        end()
        return await answerBlocked(guarded, verdict, asked)
      }

      const attempt = describeAttempt(request, guarded)
      const passed = describePassed(asked, attempt, guarded, verdict.turn, end)
      const carried = await acceptCode(passed, ways, deps)
      if (carried.kind !== 'answered') return await answerRefusal(carried, asked, guarded)
      const facts = { ...attempt, fansOut: asked.wanted.fansOut, order: ways.order }
      return (
        attemptAnswer(facts, carried.answers, false) ?? (await endRefused(facts, carried.answers, request))
      )
    } finally {
      end()
    }
  }

  function describeAttempt({ requestId, caller }: StartRequest, { nowMs }: GuardedSend): CodeFacts {
    const { validityMinutes } = caller.account.verification
    return { id: withPrefix('ver', requestId), resends: 0, sentAt: nowMs, validityMinutes }
  }

  /** Stored together with its verification; then the next request of the key goes on. */
  function describePassed(
    { request, claim, wanted, code, ways }: RoutedStart,
    attempt: CodeFacts,
    guarded: GuardedSend,
    turn: Turn | null,
    end: () => void,
  ): PassedCode<StartVerdict> {
    const { account, mode } = request.caller
    const id = withPrefix('msg', request.requestId)
    return {
      id,
      claim,
      guarded,
      add(row, messages) {
        const start: Start = {
          verificationId: attempt.id,
          recipientKey: wanted.recipient.key,
          codeDigest: () => codes.digest({ accountId: account.id, mode }, code),
          validityMinutes: attempt.validityMinutes,
          startedAt: attempt.sentAt,
          request: storedRequestOf(request.body, ways.order, wanted.fansOut),
          messages,
          turn,
        }
        return deps.starts.add({ ...row, start })
      },
      freeKey: () => dropMessageKey(deps.db, account.id, claim!, id),
      dropMessage: message => dropMessage(deps.db, account.id, attempt.id, message),
      onDecided: end,
    }
  }

  /** Nothing was accepted. */
  async function answerRefusal(
    refusal: LimitReached | Exclude<StartVerdict | Faulty, { kind: 'accepted' | 'late' }>,
    asked: RoutedStart,
    guarded: GuardedSend,
  ): Promise<Answer> {
    switch (refusal.kind) {
      case 'blocked':
        return answerBlocked(guarded, refusal.breach, asked)
      case 'exists':
        return replay(refusal, asked.claim!, asked.request)
      case 'faulty':
        throw refusal.cause
      default:
        return insufficientAnswer(withPrefix('msg', asked.request.requestId), false)
    }
  }

  /** A key that has its response already gets that again: the guard judges only new codes. */
  async function answerBlocked(
    send: GuardedSend,
    breach: Breach,
    { claim, request }: RoutedStart,
  ): Promise<Answer> {
    const existing = claim && (await idempotency.find(request.caller.account.id, claim))
    if (existing) return replay(existing, claim, request)
    return problemAnswer(await refuseBlocked(guard, send, breach), withPrefix('msg', request.requestId))
  }

  /** Ends a verification that every channel refused; the recipient's earlier code is valid again. */
  async function endRefused(
    { id }: CodeFacts,
    answers: readonly FirstAnswer[],
    { caller }: StartRequest,
  ): Promise<Answer> {
    await endVerifications(deps.db, clock.now(), [{ accountId: caller.account.id, id }])
    return refusedAnswer(answers, false)
  }

  async function replay(existing: ExistingKey, claim: KeyClaim, request: StartRequest): Promise<Answer> {
    const { account } = request.caller
    const answer = await idempotency.replay(account, claim, existing)
    if (answer === 'free') return start(request)
    return answer instanceof Problem ? problemAnswer(answer, withPrefix('msg', request.requestId)) : answer
  }

  return start
}

function endOfNone(): void {}
