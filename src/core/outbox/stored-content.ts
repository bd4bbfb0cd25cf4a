import type { ConversationView } from '../../contract/conversation.ts'
import type { AttachmentType, MessageType } from '../../contract/enums.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AssetId, Id, MessageId } from '../../lib/ids.ts'

/** What a message says, as its row keeps it. The text of an OTP is null here and sealed in the outbox. */
export type StoredContent = {
  text: string | null
  subject: string | null
  html: boolean
  attachment: StoredAttachment | null
  /** Where the provider fills in the template itself; null on all other channels. Absent in rows of earlier versions. */
  template?: StoredTemplate | null
  context: StoredContext | null
  /** A code for which its sender has no words, where another channel may yet say it in its own; sealed in the outbox. */
  code?: string
  /** The sender that was asked for, where the message may yet go over another channel. */
  asked?: AskedSender
}

export type AskedSender = Pick<SingleSendBody, 'sender' | 'senderId' | 'officialSenderId'>

/** The sender that a body asks for; null where it leaves that to us. */
export function readAsked({ sender, senderId, officialSenderId }: AskedSender): AskedSender | null {
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
  /** The bytes that came with the request, until the message is done. */
  attachmentId: Id<'att'> | null
  /** An uploaded file of the media store. Absent in rows of earlier versions. */
  assetId?: AssetId | null
  sizeBytes: number | null
}

/** A use of an official template, complete: dispatching looks nothing up. */
export type StoredTemplate = {
  name: string
  language: string
  providerTemplateId: string | null
  header:
    | null
    | { type: 'text'; variables: readonly string[] }
    | { type: 'image' | 'video' | 'document'; file: StoredAttachment }
  /** The values of the body's places; null here for an OTP, and sealed in the outbox. */
  body: readonly string[] | null
  /** The same for the buttons that want a value. */
  buttons: readonly { index: number; subType: 'url' | 'copy_code'; text: string }[] | null
}

/** `conversationKey` is null only in rows of earlier versions. */
export type StoredContext = ConversationView

/** What is sealed with an OTP: the words that must not be read at rest. */
export type SecretContent = {
  text: string
  subject: string | null
  template?: Pick<StoredTemplate, 'body' | 'buttons'>
  code?: string
}

/** The words of a content that must not be read at rest. */
function secretOf({ text, subject, template, code }: StoredContent): SecretContent {
  const secret = { text: text ?? '', subject, ...(code !== undefined && { code }) }
  return template ? { ...secret, template: { body: template.body, buttons: template.buttons } } : secret
}

/** The content as its row keeps it when its words are sealed. */
export function withoutSecret({ code: _, ...content }: StoredContent): StoredContent {
  const { template } = content
  const bare = { ...content, text: null, subject: null }
  return template ? { ...bare, template: { ...template, header: null, body: null, buttons: null } } : bare
}

/** A message's content with the words that were sealed apart from it. */
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

/** A message in hand, as far as its words are concerned. */
type Worded = { id: MessageId; messageType: MessageType; content: StoredContent }

/** The words that must not be read at rest, as the outbox keeps them; null where they may be, or were erased. */
export function sealWords(seal: Pick<Seal, 'seal'>, { id, messageType, content }: Worded): Buffer | null {
  if (messageType !== 'otp' || content.text === null) return null
  return seal.seal(JSON.stringify(secretOf(content)), secretContext(id))
}

/** The context under which a message's secret is sealed: it opens for this message alone. */
export function secretContext(messageId: string): string {
  return `outbox:${messageId}`
}
