import type { Caller } from '../../contract/caller.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { VerificationResend, VerificationSend } from '../../contract/verification.ts'
import { DatabaseUnavailable } from '../../infra/db.ts'
import { type RequestId, withPrefix } from '../../lib/ids.ts'
import type { Guard, Turn } from '../fraud/guard.ts'
import type { Accept } from '../messages/accept.ts'
import { type Answer, insufficientAnswer, problemAnswer } from '../messages/answers.ts'
import type { Faulty } from '../messages/hot-store.ts'
import { type AcceptCodeDeps, acceptCode, type PassedCode } from './accept-code.ts'
import { dropMessage, forgetCode, type Resend, type ResendRow, type ResendVerdict } from './accept-store.ts'
import { attemptAnswer, type CodeFacts, expiryOf, refusedAnswer } from './answers.ts'
import { guardedSend, type RouteCodeDeps, refuseBlocked, routeCode, type Unroutable } from './code-routes.ts'
import type { Codes } from './codes.ts'
import { readClientIp, readCodeRequest } from './request.ts'
import { checkResend, resendAtMs } from './rules.ts'
import type { VerificationRow } from './store.ts'
import { findVerification, readVerificationRef, type VerificationRef } from './verification-ref.ts'

export type ResendDeps = RouteCodeDeps &
  AcceptCodeDeps & { codes: Codes; guard: Guard; resends: Accept<ResendRow, ResendVerdict> }

export type ResendRequest = { requestId: RequestId; caller: Caller; body: VerificationResend }

export type ResendVerification = (request: ResendRequest) => Promise<Answer>

/** Tries of one resend: each finds the verification changed by a concurrent request. */
const MAX_LOOKS = 5

/**
 * Sends a new code for the same verification, which voids the one before; the
 * channels are those of the start, routed anew. The message is stored in one
 * transaction with the new code: of concurrent resends exactly one is made.
 */
export function createResend(deps: ResendDeps): ResendVerification {
  const { db, clock, codes, guard } = deps

  async function resend(request: ResendRequest): Promise<Answer> {
    const which = readVerificationRef(request.body, deps.phones)
    const clientIp = readClientIp(request.body.clientIp)
    for (let look = 0; look < MAX_LOOKS; look++) {
      const answer = await tryResend(which, clientIp, request)
      if (answer) return answer
    }
    throw new DatabaseUnavailable(new Error(`a verification changed during ${MAX_LOOKS} tries to resend it`))
  }

  /** Null when the verification was not as it had been read. */
  async function tryResend(
    which: VerificationRef,
    clientIp: string | null,
    request: ResendRequest,
  ): Promise<Answer | null> {
    const { caller } = request
    const row = await findVerification(db, caller, which, clock.now())
    // By the time after the look-up: a concurrent resend may have ended meanwhile, and begun the wait of a minute anew.
    checkResend(row, clock.now())

    const codeRequest = { ...readCodeRequest(bodyOf(row), caller.account, deps.phones), clientIp }
    const code = codes.draw(caller.account.verification.codeLength)
    const routed = await routeCode(codeRequest, code, caller, deps)
    if ('problem' in routed) return unroutableAnswer(routed, request)
    const guarded = guardedSend(codeRequest, routed, clock.now())
    const verdict = await guard.judge(guarded)
    if (verdict.verdict === 'block') throw await refuseBlocked(guard, guarded, verdict)

    const id = withPrefix('msg', request.requestId)
    const renewed: CodeFacts = {
      id: row.id,
      resends: row.resends + 1,
      sentAt: guarded.nowMs,
      validityMinutes: row.validityMinutes,
    }
    const renewal = toResend(renewed, row, code, verdict.turn, caller)
    const passed: PassedCode<ResendVerdict | Faulty> = {
      id,
      claim: null,
      guarded,
      add: (message, messages) => deps.resends.add({ ...message, resend: { ...renewal, messages } }),
      dropMessage: message => dropMessage(db, caller.account.id, row.id, message),
      onDecided() {},
    }
    const accepted = await acceptCode(passed, routed, deps)
    switch (accepted.kind) {
      case 'answered': {
        const facts = { ...renewed, fansOut: codeRequest.fansOut, order: routed.order }
        const answer = attemptAnswer(facts, accepted.answers)
        if (answer) return answer
        await forgetCode(db, caller.account.id, row.id, renewed.sentAt)
        return refusedAnswer(accepted.answers)
      }
      case 'blocked':
        throw await refuseBlocked(guard, guarded, accepted.breach)
      case 'stale':
        return null
      case 'insufficient':
        return insufficientAnswer(id)
      case 'faulty':
        throw accepted.cause
      default:
        throw new Error(`unexpected verdict for a resend, which has no idempotency key: ${accepted.kind}`)
    }
  }

  function toResend(
    renewed: CodeFacts,
    row: VerificationRow,
    code: string,
    turn: Turn | null,
    { account, mode }: Caller,
  ): Omit<Resend, 'messages'> {
    const expiresAt = expiryOf(renewed)
    return {
      verificationId: row.id,
      resends: row.resends,
      codeDigest: () => codes.digest({ accountId: account.id, mode }, code),
      turn,
      sentAt: renewed.sentAt,
      expiresAt,
      resendAt: resendAtMs(renewed.resends, renewed.sentAt) ?? expiresAt,
    }
  }

  return resend
}

/** The refusal says so if it was the sandbox that refused. */
function unroutableAnswer({ problem, refusedBy }: Unroutable, { requestId }: ResendRequest): Answer {
  return { ...problemAnswer(problem, withPrefix('msg', requestId)), sandbox: refusedBy === SANDBOX }
}

/** The body of the start, to be read again. */
function bodyOf({ recipient, request }: VerificationRow): VerificationSend {
  const { order: _, fansOut: __, ...fields } = request ?? {}
  return { ...fields, to: recipient }
}
