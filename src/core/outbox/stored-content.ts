import type { ConversationView } from '../../contract/conversation.ts'
import type { AttachmentType, MessageType } from '../../contract/enums.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AssetId, Id, MessageId } from '../../lib/ids.ts'

/** The content of a message, as stored. The text of an OTP is null here, and sealed in the outbox. */
export type StoredContent = {
  text: string | null
  subject: string | null
  html: boolean
  attachment: StoredAttachment | null
  /** The official template, which the provider fills in; null on other channels. Absent in rows of earlier versions. */
  template?: StoredTemplate | null
  context: StoredContext | null
  /** A code whose sender gave no text, kept for a failover to a channel with its own text; sealed in the outbox. */
  code?: string
  /** The sender that the request named, kept for a failover to another channel. */
  asked?: RequestedSender
}

export type RequestedSender = Pick<SingleSendBody, 'sender' | 'senderId' | 'officialSenderId'>

/** The sender that a request names; null if it names none. */
export function requestedSenderOf({
  sender,
  senderId,
  officialSenderId,
}: RequestedSender): RequestedSender | null {
  if (sender === undefined && senderId === undefined && officialSenderId === undefined) return null
  return {
    ...(sender !== undefined && { sender }),
    ...(senderId !== undefined && { senderId }),
    ...(officialSenderId !== undefined && { officialSenderId }),
  }
}

export type StoredAttachment = {
  type: AttachmentType
  mimetype: string
  fileName: string
  publicUrl: string | null
  /** A file that was sent along with the request; null without one. */
  attachmentId: Id<'att'> | null
  /** An uploaded file of the media store. Absent in rows of earlier versions. */
  assetId?: AssetId | null
  sizeBytes: number | null
}

/** An official template with all values, so that dispatching needs no look-up. */
export type StoredTemplate = {
  name: string
  language: string
  providerTemplateId: string | null
  header:
    | null
    | { type: 'text'; variables: readonly string[] }
    | { type: 'image' | 'video' | 'document'; file: StoredAttachment }
  /** The values of the body's placeholders; null here for an OTP, and sealed in the outbox. */
  body: readonly string[] | null
  /** The values of buttons that need one; null here for an OTP, and sealed in the outbox. */
  buttons: readonly { index: number; subType: 'url' | 'copy_code'; text: string }[] | null
}

/** `conversationKey` is null only in rows of earlier versions. */
export type StoredContext = ConversationView

/** What of an OTP is sealed, so that it cannot be read in the database. */
export type SecretContent = {
  text: string
  subject: string | null
  template?: Pick<StoredTemplate, 'body' | 'buttons'>
  code?: string
}

/** The part of a content that is sealed. */
function secretOf({ text, subject, template, code }: StoredContent): SecretContent {
  const secret = { text: text ?? '', subject, ...(code !== undefined && { code }) }
  return template ? { ...secret, template: { body: template.body, buttons: template.buttons } } : secret
}

/** The content without the part that is sealed. */
export function withoutSecret({ code: _, ...content }: StoredContent): StoredContent {
  const { template } = content
  const bare = { ...content, text: null, subject: null }
  return template ? { ...bare, template: { ...template, header: null, body: null, buttons: null } } : bare
}

/** A message's content together with the part that was sealed. */
export function withSecret(
  content: StoredContent,
  { text, subject, template, code }: SecretContent,
): StoredContent {
  return {
    ...content,
    text,
    subject,
    ...(code !== undefined && { code }),
    template: content.template && template ? { ...content.template, ...template } : content.template,
  }
}

/** What of a message decides whether it is sealed. */
type Sealable = { id: MessageId; messageType: MessageType; content: StoredContent }

/** The secret part of a message, sealed for the outbox; null for other types than OTP, and if it was erased. */
export function sealSecret(seal: Pick<Seal, 'seal'>, { id, messageType, content }: Sealable): Buffer | null {
  if (messageType !== 'otp' || content.text === null) return null
  return seal.seal(JSON.stringify(secretOf(content)), secretContext(id))
}

/** The context that binds a sealed secret to its message. */
export function secretContext(messageId: string): string {
  return `outbox:${messageId}`
}
