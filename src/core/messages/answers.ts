import type { Channel } from '../../contract/enums.ts'
import { errorBody } from '../../contract/envelope.ts'
import { CATALOGUE, type ErrorCode, Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SenderSource, SendResult } from '../../contract/send.ts'
import { toIso } from '../../lib/clock.ts'
import { type MessageId, withPrefix } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'

/** The response to a request, its body as text, so that a replay is identical to the byte. */
export type Answer = {
  status: number
  /** JSON. */
  body: string
  /** An earlier request with the idempotency key got it. */
  replayed: boolean
  /** The sandbox took the message, which the response must say. */
  sandbox: boolean
  retryAfterSeconds: number | null
}

/** The values in the response to a send; the same from memory and from the message's row. */
export type AnswerFacts = {
  id: MessageId
  scheduledAt: number | null
  channel: Channel
  provider: string
  senderSource: SenderSource
  candidates: readonly Channel[]
  /** Micros. */
  amount: number
  currency: string
  parts: number | null
}

export type FailureFacts = { errorCode: ErrorCode; errorDetail: string | null }

/** The 200 response to an accepted send. */
export function sentAnswer(facts: AnswerFacts, status: SendResult['status']): Answer {
  const body: SendResult = {
    success: true,
    requestId: withPrefix('req', facts.id),
    status,
    ...(status === 'scheduled' && { scheduledAt: toIso(facts.scheduledAt!) }),
    resolved: {
      channel: facts.channel,
      provider: facts.provider,
      senderSource: facts.senderSource,
      channels: [...facts.candidates],
    },
    billing: {
      estimatedCost: fromMicros(facts.amount),
      currency: facts.currency,
      ...(facts.parts !== null && { parts: facts.parts }),
    },
    tracking: {
      messageId: facts.id,
      usageId: withPrefix('usg', facts.id),
      queueId: status === 'sent' ? null : withPrefix('que', facts.id),
    },
  }
  return {
    status: 200,
    body: JSON.stringify(body),
    replayed: false,
    sandbox: facts.provider === SANDBOX,
    retryAfterSeconds: null,
  }
}

/** The error response to a send that its provider finally refused. */
export function failedAnswer(facts: AnswerFacts, failure: FailureFacts): Answer {
  const problem = failureProblem(failure)
  return { ...problemAnswer(problem, facts.id), sandbox: facts.provider === SANDBOX }
}

/** The refusal as a Problem: the catalogue's sentence, then the provider's reason in brackets. */
function failureProblem({ errorCode, errorDetail }: FailureFacts): Problem {
  const text = CATALOGUE[errorCode].text
  const atRecipient = errorCode === 'RECIPIENT_REJECTED' || errorCode === 'CHATAPP_NOT_REGISTERED'
  return new Problem(errorCode, errorDetail && errorDetail !== text ? `${text} (${errorDetail})` : text, {
    ...(atRecipient && { details: [{ path: 'to', message: errorDetail ?? text }] }),
    ...(errorCode === 'PROVIDER_UNAVAILABLE' && { retryAfterSeconds: 5 }),
  })
}

/** The Problem for a recipient that, by its provider, is not registered on the chat app. */
export function notRegistered(): Problem {
  return failureProblem({ errorCode: 'CHATAPP_NOT_REGISTERED', errorDetail: null })
}

/** The 402 response to a send that neither pool nor wallet covers. */
export function insufficientAnswer(id: MessageId): Answer {
  return problemAnswer(new Problem('INSUFFICIENT_BALANCE'), id)
}

/** A refusal as a response. */
export function problemAnswer(problem: Problem, id: MessageId): Answer {
  return {
    status: problem.status,
    body: JSON.stringify(errorBody(problem, withPrefix('req', id))),
    replayed: false,
    sandbox: false,
    retryAfterSeconds: problem.retryAfterSeconds ?? null,
  }
}

/** The answer for a repeat of its request. */
export function asReplay(answer: Answer): Answer {
  return { ...answer, replayed: true }
}
