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
  codeRequest: CodeRequest
  code: string
  routed: RoutedCode
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
      const codeRequest = readCodeRequest(request.body, account, deps.phones)
      const code = codes.draw(account.verification.codeLength)
      const routed = await routeCode(codeRequest, code, request.caller, deps)
      if ('problem' in routed) return await refuse(routed.problem, claim, request, routed.refusedBy)
      return await serialiseByKey({ request, claim, codeRequest, code, routed })
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
  function serialiseByKey(routedStart: RoutedStart): Promise<Answer> {
    const { claim, request } = routedStart
    if (!claim) return judgeAndSend(routedStart, releaseNothing)
    const taken = keysInProgress.begin(request.caller.account.id, claim)
    return taken instanceof Promise ? sendAfter(taken, routedStart, claim) : judgeAndSend(routedStart, taken)
  }

  /** Waits for the request before it, and gets the same response. */
  async function sendAfter(
    released: Promise<void>,
    routedStart: RoutedStart,
    claim: KeyClaim,
  ): Promise<Answer> {
    const { id } = routedStart.request.caller.account
    await released
    const existing = await idempotency.find(id, claim)
    if (existing) return replay(existing, claim, routedStart.request)
    return judgeAndSend(routedStart, keysInProgress.take(id, claim))
  }

  /** `releaseKey` lets the next request with the key go on. */
  async function judgeAndSend(routedStart: RoutedStart, releaseKey: () => void): Promise<Answer> {
    try {
      const { request, routed } = routedStart
      const guarded = guardedSend(routedStart.codeRequest, routed, clock.now())
      const judged = guard.judge(guarded)
      const verdict = judged instanceof Promise ? await judged : judged
      if (verdict.verdict === 'block') {
        // The stored response may have expired, so that this is a new start.
        releaseKey()
        return await answerBlocked(guarded, verdict, routedStart)
      }

      const attempt = toFirstCode(request, guarded)
      const passed = toPassedCode(routedStart, attempt, guarded, verdict.turn, releaseKey)
      const accepted = await acceptCode(passed, routed, deps)
      if (accepted.kind !== 'answered') return await answerRefusal(accepted, routedStart, guarded)
      const facts = { ...attempt, fansOut: routedStart.codeRequest.fansOut, order: routed.order }
      const { answers } = accepted
      return attemptAnswer(facts, answers) ?? (await endRefused(facts, answers, routedStart))
    } finally {
      releaseKey()
    }
  }

  function toFirstCode({ requestId, caller }: StartRequest, { nowMs }: GuardedSend): CodeFacts {
    const { validityMinutes } = caller.account.verification
    return { id: withPrefix('ver', requestId), resends: 0, sentAt: nowMs, validityMinutes }
  }

  /** Stored together with its verification; then its key is released. */
  function toPassedCode(
    { request, claim, codeRequest, code, routed }: RoutedStart,
    attempt: CodeFacts,
    guarded: GuardedSend,
    turn: Turn | null,
    releaseKey: () => void,
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
          recipientKey: codeRequest.recipient.key,
          codeDigest: () => codes.digest({ accountId: account.id, mode }, code),
          validityMinutes: attempt.validityMinutes,
          startedAt: attempt.sentAt,
          request: storedRequestOf(request.body, routed.order, codeRequest.fansOut),
          messages,
          turn,
        }
        return deps.starts.add(Object.assign(row, { start }))
      },
      dropMessage: message => dropMessage(deps.db, account.id, attempt.id, message),
      onDecided: releaseKey,
    }
  }

  /** Nothing was accepted. */
  async function answerRefusal(
    refusal: LimitReached | Exclude<StartVerdict | Faulty, { kind: 'accepted' | 'late' }>,
    routedStart: RoutedStart,
    guarded: GuardedSend,
  ): Promise<Answer> {
    switch (refusal.kind) {
      case 'blocked':
        return answerBlocked(guarded, refusal.breach, routedStart)
      case 'exists':
        return replay(refusal, routedStart.claim!, routedStart.request)
      case 'faulty':
        throw refusal.cause
      default:
        return insufficientAnswer(withPrefix('msg', routedStart.request.requestId))
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
    { claim, request }: RoutedStart,
  ): Promise<Answer> {
    const accountId = request.caller.account.id
    await endVerifications(deps.db, clock.now(), [{ accountId, id }])
    const answer = refusedAnswer(answers)
    // A 5xx is never replayed.
    if (claim && answer.status >= 500) await idempotency.free(accountId, claim, withPrefix('msg', id))
    return answer
  }

  async function replay(existing: ExistingKey, claim: KeyClaim, request: StartRequest): Promise<Answer> {
    const { account } = request.caller
    const answer = await idempotency.replay(account, claim, existing)
    if (answer === 'free') return start(request)
    return answer instanceof Problem ? problemAnswer(answer, withPrefix('msg', request.requestId)) : answer
  }

  return start
}

/** For starts without a key. */
function releaseNothing(): void {}
