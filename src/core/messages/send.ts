import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { SendBody } from '../../contract/send.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import { withinMs } from '../../lib/clock.ts'
import { type Ids, type MessageId, type RequestId, sameAs } from '../../lib/ids.ts'
import type { Admission, Dispatch, OutboxItem } from '../outbox/dispatch-port.ts'
import { type StoredContent, secretContext } from '../outbox/stored-content.ts'
import { SANDBOX } from '../routing/route.ts'
import type { Accept } from './accept.ts'
import {
  type Answer,
  failedAnswer,
  insufficientAnswer,
  notRegistered,
  problemAnswer,
  sentAnswer,
} from './answers.ts'
import type { AttachmentPlan } from './attachment.ts'
import type { AcceptRow, AcceptVerdict, ExistingKey, KeyClaim } from './hot-store.ts'
import type { Idempotency } from './idempotency.ts'
import { type Planned, type PrepareDeps, type Prepared, plan, price, type World } from './prepare.ts'
import type { Waiters } from './waiters.ts'

export type SendDeps = PrepareDeps & {
  clock: Clock
  ids: Ids
  seal: Seal
  accept: Accept
  dispatch: Dispatch
  idempotency: Idempotency
  waiters: Waiters
  world(caller: Caller): World | Promise<World>
  /** Whether the provider can say, before a send, that a recipient cannot be reached. */
  checksRecipient(planned: Planned): boolean
  /** The provider's word on the recipient; null when it has none in time. */
  reaches(planned: Planned): Promise<boolean | null>
  storeAttachment(
    accountId: Prepared['accountId'],
    messageId: MessageId,
    bytes: Buffer,
  ): Promise<StoredAttachmentId>
  dropAttachment(accountId: Prepared['accountId'], id: StoredAttachmentId): Promise<void>
  syncWaitMs: number
}
type StoredAttachmentId = NonNullable<NonNullable<StoredContent['attachment']>['attachmentId']>

export type SendRequest = {
  requestId: RequestId
  caller: Caller
  /** As sent; valid unless `fault` says otherwise. */
  body: SendBody
  fault: Problem | null
  /** The Idempotency-Key header. */
  headerKey: string | undefined
}

export type Send = (request: SendRequest) => Promise<Answer>

/**
 * One send, from its body to the answer: prepared, accepted in one transaction,
 * dispatched, and answered with the provider's word if that comes in time.
 */
export function createSend(deps: SendDeps): Send {
  const { clock, accept, dispatch, idempotency, waiters } = deps

  async function send(request: SendRequest): Promise<Answer> {
    const id = sameAs('msg', request.requestId)
    let claim: KeyClaim | null = null
    try {
      claim = idempotency.claim(request.headerKey, request.body)
      if (request.fault) throw request.fault
      const world = await deps.world(request.caller)
      const planned = plan(request.body, request.caller, world, clock.now(), deps)
      if (deps.checksRecipient(planned) && (await isUnreachable(planned))) {
        return refuse(notRegistered(), id, claim, request, planned.provider)
      }
      return await acceptAndAnswer(id, price(planned, world), claim, request)
    } catch (error) {
      if (error instanceof Problem) return refuse(error, id, claim, request)
      throw error
    }
  }

  /** The provider's own word on the recipient, before anything is priced or stored. Where it has none, the send tells. */
  async function isUnreachable(planned: Planned): Promise<boolean> {
    return planned.scheduledAt === null && (await deps.reaches(planned)) === false
  }

  /** A refusal before acceptance; with a key it is stored first, or gives way to what the key says already. */
  async function refuse(
    problem: Problem,
    id: MessageId,
    claim: KeyClaim | null,
    request: SendRequest,
    provider?: string,
  ): Promise<Answer> {
    const answer = { ...problemAnswer(problem, id), sandbox: provider === SANDBOX }
    const storable = problem.status < 500 && ![401, 409, 429].includes(problem.status)
    if (!claim || !storable) return answer
    const existing = await idempotency.storeRefusal(request.caller.account.id, claim, answer)
    return existing ? replay(existing, claim, id, request) : answer
  }

  async function acceptAndAnswer(
    id: MessageId,
    prepared: Prepared,
    claim: KeyClaim | null,
    request: SendRequest,
  ) {
    const content = await storeContent(id, prepared)
    const admission = admit(prepared)
    const word = prepared.scheduledAt === null ? waiters.wait(id, claim) : null
    let verdict: AcceptVerdict | null = null
    try {
      verdict = await accept.add(toRow(id, prepared, content, claim, admission))
    } finally {
      if (verdict?.kind !== 'accepted') {
        waiters.forget(id)
        if (admission.kind === 'begin') dispatch.release(prepared.connectionId)
      }
    }
    if (verdict.kind !== 'accepted') await dropContent(prepared, content)
    switch (verdict.kind) {
      case 'insufficient':
        return insufficientAnswer(id, false)
      case 'faulty':
        throw verdict.cause
      case 'exists':
        return replay(verdict, claim!, id, request)
      case 'accepted':
        if (admission.kind !== 'wait')
          dispatch.push(toItem(id, prepared, content), admission.kind === 'begin')
        return word
          ? firstAnswer(id, prepared, claim, word)
          : sentAnswer({ id, ...prepared }, 'scheduled', false)
    }
  }

  function admit(prepared: Prepared): Admission {
    if (prepared.scheduledAt !== null) return { kind: 'wait', dueAt: prepared.scheduledAt }
    return dispatch.admit(prepared.connectionId, prepared.accountId)
  }

  /** Waits for the provider's word, at most `syncWaitMs`; what is said here is what a replay says. */
  async function firstAnswer(
    id: MessageId,
    prepared: Prepared,
    claim: KeyClaim | null,
    word: ReturnType<Waiters['wait']>,
  ): Promise<Answer> {
    const facts = { id, ...prepared }
    const first = await withinMs(clock, deps.syncWaitMs, word)
    waiters.forget(id)
    if (first) {
      if (first.answer !== 'failed') return sentAnswer(facts, first.answer, false)
      return failedAnswer(facts, { errorCode: first.errorCode!, errorDetail: first.errorDetail }, false)
    }
    if (!claim) return sentAnswer(facts, 'queued', false)
    return (
      (await idempotency.answerNow(prepared.accountId, id, prepared.currency, false)) ??
      sentAnswer(facts, 'queued', false)
    )
  }

  async function replay(
    existing: ExistingKey,
    claim: KeyClaim,
    id: MessageId,
    request: SendRequest,
  ): Promise<Answer> {
    const answer = await idempotency.replay(request.caller.account, claim, existing)
    if (answer === 'free') return send({ ...request, requestId: sameAs('req', id) })
    return answer instanceof Problem ? problemAnswer(answer, id) : answer
  }

  /** Text as the row keeps it; what must not be read at rest goes sealed into the outbox. */
  async function storeContent(id: MessageId, prepared: Prepared): Promise<StoredContent> {
    return {
      text: prepared.said.text,
      subject: prepared.said.subject,
      html: prepared.said.html,
      attachment: prepared.attachment && (await storeAttachment(id, prepared, prepared.attachment)),
      context: prepared.context && {
        moduleType: prepared.context.moduleType,
        accountId: prepared.context.accountId,
        chatId: prepared.context.chatId,
        contactId: prepared.context.contactId ?? null,
        conversationKey: prepared.context.conversationKey ?? null,
      },
    }
  }

  async function storeAttachment(id: MessageId, prepared: Prepared, plan: AttachmentPlan) {
    return {
      type: plan.type,
      mimetype: plan.mimetype,
      fileName: plan.fileName,
      publicUrl: plan.publicUrl,
      attachmentId: plan.bytes && (await deps.storeAttachment(prepared.accountId, id, plan.bytes)),
      sizeBytes: plan.bytes?.length ?? null,
    }
  }

  /** Of what was not accepted, nothing stays. */
  async function dropContent({ accountId }: Prepared, { attachment }: StoredContent): Promise<void> {
    if (attachment?.attachmentId) await deps.dropAttachment(accountId, attachment.attachmentId)
  }

  function toRow(
    id: MessageId,
    prepared: Prepared,
    content: StoredContent,
    claim: KeyClaim | null,
    admission: Admission,
  ): AcceptRow {
    const secret = prepared.messageType === 'otp'
    const begun = admission.kind === 'begin'
    return {
      accountId: prepared.accountId,
      id,
      claim,
      live: prepared.mode === 'live',
      status: prepared.scheduledAt !== null ? 'scheduled' : begun ? 'sending' : 'queued',
      channel: prepared.channel,
      messageType: prepared.messageType,
      recipient: prepared.recipient,
      country: prepared.country,
      provider: prepared.provider,
      connectionId: prepared.connectionId,
      sender: prepared.sender,
      senderSource: prepared.senderSource,
      candidates: prepared.candidates.join(','),
      content: JSON.stringify(secret ? { ...content, text: null, subject: null } : content),
      metadata: prepared.metadata === null ? null : JSON.stringify(prepared.metadata),
      amount: prepared.amount,
      parts: prepared.parts,
      pooled: prepared.pooled,
      dueAt: admission.kind === 'wait' ? admission.dueAt : clock.now(),
      scheduledAt: prepared.scheduledAt,
      owned: admission.kind !== 'wait',
      begun,
      secret: secret
        ? deps.seal.seal(JSON.stringify({ text: content.text, subject: content.subject }), secretContext(id))
        : null,
      answer: prepared.scheduledAt === null ? null : 'scheduled',
    }
  }

  function toItem(id: MessageId, prepared: Prepared, content: StoredContent): OutboxItem {
    return {
      accountId: prepared.accountId,
      id,
      connectionId: prepared.connectionId,
      channel: prepared.channel,
      messageType: prepared.messageType,
      recipient: prepared.recipient,
      sender: prepared.sender,
      content,
    }
  }

  return send
}
