import type { Channel, MessageType } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { looksLikeHtml } from '../../lib/html.ts'
import type { SmsCount } from '../../lib/sms-parts.ts'
import { countSendableSms, MAX_CHAT_CHARACTERS } from '../templates/local-text.ts'

/** The text of a message, rendered for its channel. */
export type RenderedText = {
  text: string
  subject: string | null
  /** For e-mail only: the text is HTML. */
  html: boolean
  sms: SmsCount | null
}

/** Characters (code points) of an e-mail's subject. */
const MAX_SUBJECT_CHARACTERS = 255
/** Characters that both chat platforms allow in the caption of a file. */
export const MAX_CAPTION_CHARACTERS = 1_024

/** The message type of a body; `otp` or `free_text` if it names none. */
export function readMessageType(body: SingleSendBody): MessageType {
  const inferred = body.content?.otpCode === undefined ? 'free_text' : 'otp'
  const type = body.messageType ?? inferred
  checkCodeType(body, type)
  return type
}

/** Throws a 400 for a code in a message of another type, whose text would be kept and shown. */
export function checkCodeType({ content }: Pick<SingleSendBody, 'content'>, type: MessageType): void {
  if (content?.otpCode !== undefined && type !== 'otp') {
    throw invalid('content.otpCode', `is only allowed with messageType otp, not ${type}`)
  }
}

/** The text in the body, from `content.text` or `text`; undefined if it is empty or absent. */
export function ownText({ content, text }: Pick<SingleSendBody, 'content' | 'text'>): string | undefined {
  return content?.text || text || undefined
}

/** Throws a 400 for a body without content, or with contradicting fields. Does not depend on the channel. */
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
  // Of a batch that names e-mail, no recipient can be sent it; elsewhere it depends on each recipient's channel.
  if (body.channel === 'email_user') checkSubject(body)
}

/** Throws a 400 for a subject that an e-mail cannot have; other channels ignore it, whatever it is. */
function checkSubject({ content }: Pick<SingleSendBody, 'content'>): void {
  const subject = content?.subject
  if (subject === undefined) return
  if (subject === '') throw invalid('content.subject', 'must not be empty')
  if (subject.length > MAX_SUBJECT_CHARACTERS && [...subject].length > MAX_SUBJECT_CHARACTERS) {
    throw invalid('content.subject', `must have at most ${MAX_SUBJECT_CHARACTERS} characters`)
  }
  if (/[\r\n]/.test(subject)) throw invalid('content.subject', 'must be one line')
}

/** Renders a message without a template. Throws a 400 if it exceeds the limits of its channel. */
export function composeContent(body: SingleSendBody, channel: Channel): RenderedText {
  const text = ownText(body) ?? otpText(body.content?.otpCode)
  if (channel === 'email_user') return composeEmail(body, text)
  if (isSms(channel)) return { text, subject: null, html: false, sms: countSendableSms(text, textPath(body)) }
  const limit = body.attachment ? MAX_CAPTION_CHARACTERS : MAX_CHAT_CHARACTERS
  if (text.length > limit) throw invalid(textPath(body), `must be at most ${limit} characters on ${channel}`)
  return { text, subject: null, html: false, sms: null }
}

/** The text for a bare code where the account has no default template. */
function otpText(code: string | undefined): string {
  return code === undefined ? '' : `Your verification code is ${code}`
}

function composeEmail(body: SingleSendBody, text: string): RenderedText {
  checkSubject(body)
  // Neither the contract nor RFC 5322 requires a subject.
  const subject =
    body.content?.subject ?? (body.content?.otpCode === undefined ? null : 'Your verification code')
  return { text, subject, html: looksLikeHtml(text), sms: null }
}

function textPath(body: SingleSendBody): string {
  return !body.content?.text && body.text ? 'text' : 'content.text'
}
