import { Readable } from 'node:stream'
import {
  FileUnavailable,
  type Outgoing,
  type OutgoingFile,
  type OutgoingTemplate,
} from '../channels/provider.ts'
import type { StoredFile } from '../core/media/media.ts'
import { attemptIdOf } from '../core/outbox/attempt-id.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import type { StoredAttachment, StoredTemplate } from '../core/outbox/stored-content.ts'
import type { AccountId, Id } from '../lib/ids.ts'

export type FileSources = {
  /** The bytes that came with a request; null when they are no longer stored. */
  stored(accountId: AccountId, id: Id<'att'>): Promise<Buffer | null>
  /** A file of the media store. */
  uploaded(asset: StoredFile, signal: AbortSignal): Promise<NodeJS.ReadableStream>
  /** Through the guarded client. */
  fetched(url: string, signal: AbortSignal): Promise<NodeJS.ReadableStream>
}

/** The message as a provider gets it for one attempt. */
export function toOutgoing(item: OutboxItem, attempt: number, sources: FileSources): Outgoing {
  const { content } = item
  return {
    attemptId: attemptIdOf(item.id, attempt),
    messageId: item.id,
    accountId: item.accountId,
    attempt,
    channel: item.channel,
    messageType: item.messageType,
    to: item.recipient,
    from: item.sender,
    text: content.text ?? '',
    subject: content.subject,
    html: content.html,
    files: content.attachment ? [toFile(item.accountId, content.attachment, sources)] : [],
    template: content.template ? toTemplate(item.accountId, content.template, sources) : null,
  }
}

function toTemplate(accountId: AccountId, stored: StoredTemplate, sources: FileSources): OutgoingTemplate {
  const { header } = stored
  return {
    name: stored.name,
    language: stored.language,
    providerTemplateId: stored.providerTemplateId,
    header:
      header === null || header.type === 'text'
        ? header
        : { type: header.type, file: toFile(accountId, header.file, sources) },
    body: stored.body ?? [],
    buttons: stored.buttons ?? [],
  }
}

function toFile(accountId: AccountId, attachment: StoredAttachment, sources: FileSources): OutgoingFile {
  return {
    type: attachment.type,
    mimetype: attachment.mimetype,
    fileName: attachment.fileName,
    ...(attachment.sizeBytes !== null && { sizeBytes: attachment.sizeBytes }),
    ...(attachment.publicUrl !== null && { publicUrl: attachment.publicUrl }),
    async open(signal) {
      if (attachment.assetId) {
        return sources.uploaded({ id: attachment.assetId, size: attachment.sizeBytes ?? 0 }, signal)
      }
      if (attachment.attachmentId === null) return sources.fetched(attachment.publicUrl!, signal)
      const bytes = await sources.stored(accountId, attachment.attachmentId)
      if (!bytes) throw new FileUnavailable('the attachment is no longer stored', false)
      return Readable.from([bytes])
    },
  }
}
