import type { Channel, ConversationContext, MessageType, SendBody } from '../../../../sdk/index.ts'
import { conversationFrom } from '../../parts/conversation.ts'

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
  sender: string
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
  sender: '',
  scheduleAt: '',
  conversation: null,
}

/** From the URL, as other pages fill it in. */
export function draftFrom(search: string): Draft {
  const given = new URLSearchParams(search)
  const draft: Draft = { ...EMPTY, conversation: conversationFrom(given) }
  for (const name of ['to', 'channel', 'messageType', 'text', 'subject', 'templateId'] as const) {
    const value = given.get(name)
    if (value !== null) Object.assign(draft, { [name]: value })
  }
  return draft
}

/** The request, with what was left empty left out. */
export function toBody(draft: Draft): SendBody {
  const { to, channel, messageType, text, subject, otpCode, templateId, variables, sender, scheduleAt } =
    draft
  const { conversation } = draft
  const usesTemplate = templateId !== ''
  const content = {
    ...(subject !== '' && { subject }),
    ...(messageType === 'otp' && otpCode !== '' && !usesTemplate && { otpCode }),
  }
  return {
    to: to.trim(),
    // A conversation has a channel of its own.
    ...(conversation === null ? channel !== 'auto' && { channel } : { conversationContext: conversation }),
    messageType,
    ...(text !== '' && !usesTemplate && { text }),
    ...(Object.keys(content).length > 0 && { content }),
    ...(usesTemplate && {
      template: { id: templateId, ...(variables.length > 0 && { variablesIndexed: variables }) },
    }),
    ...(sender !== '' && { sender: { id: sender } }),
    ...(scheduleAt !== '' && { options: { scheduleAt: new Date(scheduleAt).toISOString() } }),
  }
}

/** The field that the API means by `path`. */
export function fieldOf(path: string): string {
  const variable = /^template\.variables(?:Indexed|Named)(?:\[(\d+)\])?/.exec(path)
  if (variable) return `variables.${variable[1] ?? 0}`
  return FIELDS[path] ?? path
}

const FIELDS: Readonly<Record<string, string>> = {
  'content.text': 'text',
  'content.subject': 'subject',
  'content.otpCode': 'otpCode',
  'options.scheduleAt': 'scheduleAt',
  'template.id': 'templateId',
  template: 'templateId',
  'sender.id': 'sender',
}
