import { invalid } from '../../contract/errors.ts'
import { MAX_PARTS_OF_SMS } from '../../contract/send.ts'
import { countSms, type SmsCount } from '../../lib/sms-parts.ts'
import { joinParts, type RenderedTemplate } from './render.ts'
import type { TemplateRow } from './store.ts'

/** Characters that both chat platforms allow in a message. */
export const MAX_CHAT_CHARACTERS = 4_096

/** The text of a template that Posthorn fills in itself, as its channel gets it. */
export type LocalText = { text: string; subject: string | null; html: boolean; sms: SmsCount | null }

/**
 * For sends and previews. Throws a 400 at `path` if the channels of the template do not take so long a text; `longest`: in
 * a chat, where a caption may have less than a message.
 */
export function toLocalText(
  { category, compiled }: Pick<TemplateRow, 'category' | 'compiled'>,
  rendered: RenderedTemplate,
  path: string,
  longest = MAX_CHAT_CHARACTERS,
): LocalText {
  if (category === 'email')
    return { text: rendered.text, subject: rendered.subject, html: compiled.html, sms: null }
  if (category === 'sms')
    return { text: rendered.text, subject: null, html: false, sms: countSendableSms(rendered.text, path) }
  const text = joinParts(compiled, rendered)
  if (text.length > longest)
    throw invalid(path, `has more than ${longest} characters once filled in; chats allow no more`)
  return { text, subject: null, html: false, sms: null }
}

/** How a text is sent as SMS. Throws a 400 at `path`, its field, if it is empty or has too many parts. */
export function countSendableSms(text: string, path: string): SmsCount {
  if (text === '') throw invalid(path, 'must not be empty for an SMS')
  const sms = countSms(text)
  if (sms.parts > MAX_PARTS_OF_SMS) {
    throw invalid(
      path,
      `needs ${sms.parts} SMS parts in ${sms.encoding}; at most ${MAX_PARTS_OF_SMS} are allowed`,
    )
  }
  return sms
}
