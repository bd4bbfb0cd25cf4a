import type { AttachmentType } from '../../contract/enums.ts'
import type { Id } from '../../lib/ids.ts'

/** What a message says, as its row keeps it. The text of an OTP is null here and sealed in the outbox. */
export type StoredContent = {
  text: string | null
  subject: string | null
  html: boolean
  attachment: StoredAttachment | null
  context: StoredContext | null
}

export type StoredAttachment = {
  type: AttachmentType
  mimetype: string
  fileName: string
  publicUrl: string | null
  /** The bytes that came with the request, until the message is done. */
  attachmentId: Id<'att'> | null
  sizeBytes: number | null
}

export type StoredContext = {
  moduleType: string
  accountId: string
  chatId: string
  contactId: string | null
  conversationKey: string | null
}

/** What is sealed with an OTP: the words that must not be read at rest. */
export type SecretContent = { text: string; subject: string | null }

/** The context under which a message's secret is sealed: it opens for this message alone. */
export function secretContext(messageId: string): string {
  return `outbox:${messageId}`
}
