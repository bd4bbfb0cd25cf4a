import type {
  AttachmentType,
  Channel,
  ConversationContext,
  MessageType,
  SingleSendBody,
} from '../../../../sdk/index.ts'
import { conversationFrom } from '../../parts/conversation.ts'
import { isoOfLocal } from '../../parts/local-time.ts'

/** What is filled in, as the fields hold it. */
export type Draft = {
  to: string
  channel: Channel | 'auto'
  messageType: MessageType
  text: string
  subject: string
  otpCode: string
  templateId: string
  variables: string[]
  /** The ends of the addresses behind the template's buttons; which of them is told by their place. */
  buttons: { index: number; subType: string; text: string }[]
  /** Of SMS. */
  sender: string
  officialSenderId: string
  /** A file for a chat, which is fetched from its address; none while it has no type. */
  fileType: AttachmentType | ''
  fileUrl: string
  scheduleAt: string
  /** Where other pages lead to: a chat of a bot, of a session, of an official sender. */
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

/** What is too long for an address. */
export type Written = Partial<Pick<Draft, 'text' | 'subject'>>

/** From the URL, as other pages fill it in, and from what they put beside it into the history. */
export function draftFrom(search: string, written: Written | null): Draft {
  const given = new URLSearchParams(search)
  const draft: Draft = { ...EMPTY, ...written, conversation: conversationFrom(given) }
  for (const name of ['to', 'channel', 'messageType', 'text', 'subject', 'templateId'] as const) {
    const value = given.get(name)
    if (value !== null) Object.assign(draft, { [name]: value })
  }
  return draft
}

/** Where a file can go along. */
export function takesFile({ channel, conversation }: Draft): boolean {
  if (conversation !== null) return conversation.moduleType !== 'chatapp_official'
  return channel === 'user_chatapp_session' || channel === 'botapp_bot'
}

/** The request, with what was left empty left out. */
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
      takesFile(draft) && { attachment: { type: draft.fileType, publicUrl: draft.fileUrl } }),
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

/** The field that the API means by `path`. */
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
