import type { Channel, MessageType } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { looksLikeHtml } from '../../lib/html.ts'
import { countSms } from '../../lib/sms-parts.ts'

/** What a message says, once template and shortcuts are resolved. */
export type Said = {
  text: string
  subject: string | null
  /** E-mail alone: the text is HTML. */
  html: boolean
  sms: { encoding: 'GSM-7' | 'UCS-2'; characters: number; parts: number } | null
}

/** Ten parts: what carriers reassemble everywhere, and what Twilio takes (1,600 characters). */
const MAX_SMS_PARTS = 10
/** Characters that a chat message holds on both chat platforms. */
export const MAX_CHAT_CHARACTERS = 4_096
/** Characters of a caption under a picture. */
export const MAX_CAPTION_CHARACTERS = 1_024

/** The type that the body means when it does not say. */
export function readMessageType(body: SingleSendBody): MessageType {
  const inferred = body.content?.otpCode === undefined ? 'free_text' : 'otp'
  const type = body.messageType ?? inferred
  if (body.content?.otpCode !== undefined && type !== 'otp') {
    throw invalid('content.otpCode', `is only allowed with messageType otp, not ${type}`)
  }
  return type
}

/** The words that a body itself gives, whichever field they are in; an empty text is none. */
export function ownText({ content, text }: Pick<SingleSendBody, 'content' | 'text'>): string | undefined {
  return content?.text || text || undefined
}

/** Refuses a body that says nothing, or that contradicts itself, before any channel is chosen. */
export function checkContent(body: Omit<SingleSendBody, 'to'>): void {
  const { content, attachment, template } = body
  const text = ownText(body)
  if (text === undefined && content?.otpCode === undefined && !attachment && !template) {
    throw invalid('content', 'is empty: give content.text, content.otpCode, a template or an attachment')
  }
  if (content?.otpCode !== undefined) {
    if (!/^[\p{L}\p{N}-]+$/u.test(content.otpCode)) {
      throw invalid('content.otpCode', 'must be letters, digits and hyphens')
    }
    if (text !== undefined && !text.includes(content.otpCode)) {
      throw invalid('content.text', 'must contain content.otpCode when both are given')
    }
  }
  if (content?.subject !== undefined && /[\r\n]/.test(content.subject)) {
    throw invalid('content.subject', 'must be one line')
  }
}

/** The words of a message without a template, within the limits of its channel. */
export function compose(body: SingleSendBody, channel: Channel): Said {
  const text = ownText(body) ?? otpText(body.content?.otpCode)
  if (channel === 'email_user') return composeEmail(body, text)
  if (body.content?.subject !== undefined)
    throw invalid('content.subject', `is only allowed on email_user, not ${channel}`)
  if (isSms(channel)) return composeSms(text, textPath(body))
  const limit = body.attachment ? MAX_CAPTION_CHARACTERS : MAX_CHAT_CHARACTERS
  if (text.length > limit) throw invalid(textPath(body), `must be at most ${limit} characters on ${channel}`)
  return { text, subject: null, html: false, sms: null }
}

/** A code without words of its own; the account's template replaces this sentence. */
function otpText(code: string | undefined): string {
  return code === undefined ? '' : `Your verification code is ${code}`
}

function composeEmail(body: SingleSendBody, text: string): Said {
  // The contract asks for no subject, nor does RFC 5322: a mail may go without.
  const subject =
    body.content?.subject ?? (body.content?.otpCode === undefined ? null : 'Your verification code')
  return { text, subject, html: looksLikeHtml(text), sms: null }
}

/** A text as an SMS; `path` is where it comes from. Throws a 400 for none, and for too many parts. */
export function composeSms(text: string, path: string): Said {
  if (text === '') throw invalid(path, 'must not be empty for an SMS')
  const sms = countSms(text)
  if (sms.parts > MAX_SMS_PARTS) {
    throw invalid(
      path,
      `needs ${sms.parts} SMS parts in ${sms.encoding}; at most ${MAX_SMS_PARTS} are allowed`,
    )
  }
  return { text, subject: null, html: false, sms }
}

function textPath(body: SingleSendBody): string {
  return !body.content?.text && body.text ? 'text' : 'content.text'
}
