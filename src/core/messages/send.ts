import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { type MessageId, type RequestId, withPrefix } from '../../lib/ids.ts'
import type { AcceptMessage } from './accept-message.ts'
import { type Answer, insufficientAnswer, problemAnswer, sentAnswer } from './answers.ts'
import { awaitFirstAnswer, type FirstAnswerDeps, renderFirstAnswer } from './first-answer.ts'
import type { AcceptVerdict, ExistingKey, KeyClaim } from './hot-store.ts'
import type { Idempotency } from './idempotency.ts'
import type { Prepared } from './prepare.ts'
import { refuseOnce } from './refuse.ts'
import { type ResolveDeps, resolveSend } from './resolve.ts'

export type SendDeps = ResolveDeps &
  FirstAnswerDeps & {
    acceptMessage: AcceptMessage
    idempotency: Idempotency
  }
export type SendRequest = {
  requestId: RequestId
  caller: Caller
  /** As sent; valid unless `fault` says otherwise. */
  body: SingleSendBody
  fault: Problem | null
  /** The Idempotency-Key header. */
  headerKey: string | undefined
  /** Compared instead of the body for requests with the same key, if given: a file counts by its bytes. */
  identity?: unknown
}

export type Send = (request: SendRequest) => Promise<Answer>

/**
 * Handles one send, from its body to the response: prepares it, accepts it in one transaction,
 * dispatches it, and responds with the provider's outcome if that comes in time.
 */
export function createSend(deps: SendDeps): Send {
  const { idempotency, waiters } = deps

  async function send(request: SendRequest): Promise<Answer> {
    const id = withPrefix('msg', request.requestId)
    let claim: KeyClaim | null = null
    try {
      claim = idempotency.claim(request.headerKey, request.body, request.identity)
      if (request.fault) throw request.fault
      const resolved = await resolveSend(request.body, request.caller, deps)
      if (resolved.kind === 'prepared') return await acceptAndAnswer(id, resolved.prepared, claim, request)
      return await refuse(resolved.problem, id, claim, request, resolved.refusedBy)
    } catch (error) {
      if (error instanceof Problem) return refuse(error, id, claim, request)
      throw error
    }
  }

  function refuse(
    problem: Problem,
    id: MessageId,
    claim: KeyClaim | null,
    request: SendRequest,
    refusedBy: string | null = null,
  ): Promise<Answer> {
    const refused = { problem, id, accountId: request.caller.account.id, claim, refusedBy }
    return refuseOnce(refused, idempotency, (existing, claim) => replay(existing, claim, id, request))
  }

  async function acceptAndAnswer(
    id: MessageId,
    prepared: Prepared,
    claim: KeyClaim | null,
    request: SendRequest,
  ) {
    const firstOutcome = prepared.scheduledAt === null ? waiters.wait(id, claim) : null
    let verdict: AcceptVerdict | null = null
    try {
      verdict = await deps.acceptMessage(id, prepared, claim)
    } finally {
      if (verdict?.kind !== 'accepted') waiters.remove(id)
    }
    switch (verdict.kind) {
      case 'insufficient':
        return insufficientAnswer(id)
      case 'faulty':
        throw verdict.cause
      case 'exists':
        return replay(verdict, claim!, id, request)
      case 'accepted':
        return firstOutcome
          ? renderFirstAnswer(await awaitFirstAnswer(deps, id, prepared, claim, firstOutcome))
          : sentAnswer({ id, ...prepared }, 'scheduled')
    }
  }

  async function replay(
    existing: ExistingKey,
    claim: KeyClaim,
    id: MessageId,
    request: SendRequest,
  ): Promise<Answer> {
    const answer = await idempotency.replay(request.caller.account, claim, existing)
    if (answer === 'free') return send({ ...request, requestId: withPrefix('req', id) })
    return answer instanceof Problem ? problemAnswer(answer, id) : answer
  }

  return send
}
