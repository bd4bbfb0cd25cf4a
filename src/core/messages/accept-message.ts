import { conversationKeyOf } from '../../contract/conversation.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, AssetId, MessageId } from '../../lib/ids.ts'
import type { Admission, Dispatch, OutboxItem } from '../outbox/dispatch-port.ts'
import {
  type StoredContent,
  type StoredContext,
  sealSecret,
  withoutSecret,
} from '../outbox/stored-content.ts'
import type { Accept } from './accept.ts'
import { assetNotFound, type CarriedAsset, carriedAssets } from './assets.ts'
import type { AttachmentPlan } from './attachment.ts'
import type { Context } from './context.ts'
import type { AcceptRow, AcceptVerdict, KeyClaim } from './hot-store.ts'
import type { Planned, Prepared } from './prepare.ts'

export type AcceptMessageDeps = {
  clock: Clock
  seal: Seal
  accept: Accept
  dispatch: Dispatch
  storeAttachment(
    accountId: Prepared['accountId'],
    messageId: MessageId,
    bytes: Buffer,
  ): Promise<StoredAttachmentId>
  dropAttachment(accountId: Prepared['accountId'], id: StoredAttachmentId): Promise<void>
  /** Takes room for a file that will wait in the database. Throws CONFLICT beyond the account's limit. */
  reserveRoom(accountId: AccountId, bytes: number): Promise<void>
  /** Keeps an uploaded file from being deleted until the message has ended; false if it was deleted already. */
  retainAsset(id: AssetId, message: { accountId: AccountId; id: MessageId }): Promise<boolean>
  /** Lets all uploaded files of a message be deleted again. */
  releaseAssets(messageId: MessageId): Promise<void>
}
type StoredAttachmentId = NonNullable<NonNullable<StoredContent['attachment']>['attachmentId']>

/**
 * Stores one prepared message and then hands it over to its lane. With `claim` its
 * idempotency key is claimed in the same transaction. Rejects with DatabaseUnavailable
 * if the commit could not be confirmed: then the message will not be sent.
 */
export type AcceptMessage = {
  (id: MessageId, prepared: Prepared, claim: KeyClaim | null): Promise<AcceptVerdict>
  /** The same with another accept, `add`, which stores more than the message. `bulkFields`: the message is a row of a bulk job. */
  <Verdict extends { kind: string }>(
    id: MessageId,
    prepared: Prepared,
    claim: KeyClaim | null,
    add: (row: AcceptRow) => Promise<Verdict>,
    bulkFields?: BulkFields,
  ): Promise<Verdict>
}

/** What the outbox item of a bulk row has in addition. */
type BulkFields = Required<Pick<OutboxItem, 'bulkJobId' | 'submitCallbacks'>>

export function createAcceptMessage(deps: AcceptMessageDeps): AcceptMessage {
  const { clock, accept, dispatch } = deps

  async function acceptMessage(
    id: MessageId,
    prepared: Prepared,
    claim: KeyClaim | null,
    add: (row: AcceptRow) => Promise<{ kind: string }> = accept.add,
    bulkFields?: BulkFields,
  ) {
    const waitingBytes = waitingBytesOf(prepared)
    // The files of a bulk job are limited with its body.
    if (waitingBytes > 0 && !bulkFields) await deps.reserveRoom(prepared.accountId, waitingBytes)
    const attachment = prepared.attachment && (await storeAttachment(id, prepared, prepared.attachment))
    const content = contentToStore(prepared, attachment)
    const assets = carriedAssets(content)
    if (assets.length > 0) await retainAssets(id, prepared, assets)
    const admission = admit(prepared)
    let verdict: { kind: string } | null = null
    try {
      verdict = await add(toRow(id, prepared, content, claim, admission))
    } finally {
      if (verdict?.kind !== 'accepted' && admission.kind === 'begin') dispatch.release(prepared.connectionId)
    }
    // Another try has stored the message, which still needs its files.
    if (verdict.kind === 'known') return verdict
    if (verdict.kind !== 'accepted') await dropContent(id, prepared, content)
    else if (admission.kind !== 'wait') {
      const item = toItem(id, prepared, content)
      if (bulkFields) Object.assign(item, bulkFields)
      dispatch.push(item, admission.kind === 'begin')
    }
    // Any node may send it from the outbox; this node does not know when.
    else bulkFields?.submitCallbacks.submitted(null)
    return verdict
  }

  async function storeAttachment(id: MessageId, prepared: Prepared, plan: AttachmentPlan) {
    return {
      type: plan.type,
      mimetype: plan.mimetype,
      fileName: plan.fileName,
      publicUrl: plan.publicUrl,
      attachmentId: plan.bytes && (await deps.storeAttachment(prepared.accountId, id, plan.bytes)),
      ...(plan.asset && { assetId: plan.asset.id }),
      sizeBytes: plan.asset?.size ?? plan.bytes?.length ?? null,
    }
  }

  function admit(prepared: Prepared): Admission {
    if (prepared.scheduledAt !== null) return { kind: 'wait', dueAt: prepared.scheduledAt }
    return dispatch.admit(prepared.connectionId, prepared.accountId)
  }

  /** Keeps the uploaded files until the message has ended. Throws NOT_FOUND if one was deleted meanwhile. */
  async function retainAssets(
    id: MessageId,
    { accountId }: Prepared,
    assets: readonly CarriedAsset[],
  ): Promise<void> {
    for (const asset of assets) {
      if (!(await deps.retainAsset(asset.id, { accountId, id }))) throw assetNotFound(asset.path)
    }
  }

  /** Deletes the files of a message that was not accepted. */
  async function dropContent(id: MessageId, { accountId }: Prepared, content: StoredContent): Promise<void> {
    const { attachment } = content
    if (attachment?.attachmentId) await deps.dropAttachment(accountId, attachment.attachmentId)
    if (carriedAssets(content).length > 0) await deps.releaseAssets(id)
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
      templateId: prepared.template?.id ?? null,
      content: JSON.stringify(secret ? withoutSecret(content) : content),
      metadata: prepared.metadata === null ? null : JSON.stringify(prepared.metadata),
      amount: prepared.amount,
      parts: prepared.parts,
      pooled: prepared.pooled,
      dueAt: admission.kind === 'wait' ? admission.dueAt : clock.now(),
      scheduledAt: prepared.scheduledAt,
      owned: admission.kind !== 'wait',
      begun,
      secret: secret ? () => sealSecret(deps.seal, toItem(id, prepared, content)) : null,
      answer: prepared.scheduledAt === null ? null : 'scheduled',
    }
  }

  return acceptMessage as AcceptMessage
}

/** The bytes of a file that will wait in the database for the time of its message; 0 without one. */
export function waitingBytesOf({ scheduledAt, attachment }: Prepared): number {
  return scheduledAt === null ? 0 : (attachment?.bytes?.length ?? 0)
}

/** The content as the message's row has it, before the secret part of an OTP is removed from it. */
function contentToStore(prepared: Prepared, attachment: StoredContent['attachment']): StoredContent {
  const content: StoredContent = {
    ...renderedToStore(prepared),
    attachment,
    context: prepared.context && contextToStore(prepared.context),
  }
  if (prepared.requestedSender && prepared.candidates.length > 1) content.asked = prepared.requestedSender
  return content
}

/** The rendered text as the message's row and the outbox have it. */
export function renderedToStore(planned: Planned): StoredText {
  const { rendered, template, code, candidates } = planned
  const words: StoredText = { text: rendered.text, subject: rendered.subject, html: rendered.html }
  if (template?.stored) words.template = template.stored
  if (code !== null && candidates.length > 1) words.code = code
  return words
}
type StoredText = Pick<StoredContent, 'text' | 'subject' | 'html' | 'template' | 'code'>

function contextToStore({ moduleType, accountId, chatId, ...given }: Context): StoredContext {
  return {
    moduleType,
    accountId,
    chatId,
    contactId: given.contactId ?? null,
    conversationKey: given.conversationKey ?? conversationKeyOf({ moduleType, accountId, chatId }),
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
