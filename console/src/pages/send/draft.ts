import type {
  AttachmentType,
  Channel,
  ConversationContext,
  MessageType,
  SingleSendBody,
} from '../../../../sdk/index.ts'
import { conversationFrom } from '../../parts/conversation.ts'
import { isoOfLocal } from '../../parts/local-time.ts'

/** The values of the form's fields. */
export type Draft = {
  to: string
  channel: Channel | 'auto'
  messageType: MessageType
  text: string
  subject: string
  otpCode: string
  templateId: string
  variables: string[]
  /** The variables in the URLs of the template's buttons, by `index`. */
  buttons: { index: number; subType: string; text: string }[]
  /** For SMS. */
  sender: string
  officialSenderId: string
  /** A file for a chat, fetched from its URL; none while its type is empty. */
  fileType: AttachmentType | ''
  fileUrl: string
  scheduleAt: string
  /** Set by links of other pages: a chat of a bot, a session or an official sender. */
  conversation: ConversationContext | null
}

export const EMPTY: Draft = {
  to: '',
  channel: 'auto',
  messageType: 'free_text',
  text: '',
  subject: '',
  otpCode: '',
  templateId: '',
  variables: [],
  buttons: [],
  sender: '',
  officialSenderId: '',
  fileType: '',
  fileUrl: '',
  scheduleAt: '',
  conversation: null,
}

/** Fields that are too long for a URL. */
export type PrefilledText = Partial<Pick<Draft, 'text' | 'subject'>>

/** The draft from the URL, as other pages link to it, and from the history state. */
export function draftFrom(search: string, written: PrefilledText | null): Draft {
  const given = new URLSearchParams(search)
  const draft: Draft = { ...EMPTY, ...written, conversation: conversationFrom(given) }
  for (const name of ['to', 'channel', 'messageType', 'text', 'subject', 'templateId'] as const) {
    const value = given.get(name)
    if (value !== null) Object.assign(draft, { [name]: value })
  }
  return draft
}

/** Whether the channel supports a file. */
export function supportsFile({ channel, conversation }: Draft): boolean {
  if (conversation !== null) return conversation.moduleType !== 'chatapp_official'
  return channel === 'user_chatapp_session' || channel === 'botapp_bot'
}

/** The request body, without empty fields. */
export function toBody(draft: Draft): SingleSendBody {
  const { to, channel, messageType, text, sender, officialSenderId, scheduleAt, conversation } = draft
  const usesTemplate = draft.templateId !== ''
  const content = contentOf(draft)
  return {
    to: to.trim(),
    // A conversation has a channel of its own.
    ...(conversation === null ? channel !== 'auto' && { channel } : { conversationContext: conversation }),
    // A template has a type of its own.
    ...(!usesTemplate && { messageType }),
    ...(text !== '' && !usesTemplate && { text }),
    ...(Object.keys(content).length > 0 && { content }),
    ...(usesTemplate && { template: templateOf(draft) }),
    ...(draft.fileType !== '' &&
      supportsFile(draft) && { attachment: { type: draft.fileType, publicUrl: draft.fileUrl } }),
    ...(sender !== '' && { sender: { id: sender } }),
    ...(officialSenderId !== '' && channel === 'official_chatapp' && { officialSenderId }),
    ...(scheduleAt !== '' && { options: { scheduleAt: isoOfLocal(scheduleAt) } }),
  }
}

function contentOf({
  subject,
  otpCode,
  messageType,
  templateId,
}: Draft): NonNullable<SingleSendBody['content']> {
  return {
    ...(subject !== '' && { subject }),
    ...(messageType === 'otp' && otpCode !== '' && templateId === '' && { otpCode }),
  }
}

function templateOf({ templateId, variables, buttons }: Draft): NonNullable<SingleSendBody['template']> {
  return {
    id: templateId,
    ...(variables.length > 0 && { variablesIndexed: variables }),
    ...(buttons.length > 0 && { buttonVariables: buttons }),
  }
}

/** The form's field of a path of the API. */
export function fieldOf(path: string): string {
  const variable = /^template\.variables(?:Indexed|Named)(?:\[(\d+)\])?/.exec(path)
  if (variable) return `variables.${variable[1] ?? 0}`
  const button = /^template\.buttonVariables(?:\[(\d+)\])?/.exec(path)
  if (button) return `buttons.${button[1] ?? 0}.text`
  return FIELDS[path] ?? path
}

const FIELDS: Readonly<Record<string, string>> = {
  content: 'text',
  'content.text': 'text',
  'content.subject': 'subject',
  'content.otpCode': 'otpCode',
  'options.scheduleAt': 'scheduleAt',
  'template.id': 'templateId',
  template: 'templateId',
  'sender.id': 'sender',
  attachment: 'fileUrl',
  'attachment.type': 'fileType',
  'attachment.publicUrl': 'fileUrl',
}
