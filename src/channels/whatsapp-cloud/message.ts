import type { Outcome, Outgoing, OutgoingFile, OutgoingTemplate } from '../provider.ts'
import { withoutPlus } from '../shared/sms.ts'

/** A file as a message names it: a URL that WhatsApp fetches itself, or an upload. */
export type MediaRef = { link: string } | { id: string }

/** How the message names each of its files. */
export type Media = ReadonlyMap<OutgoingFile, MediaRef>

/** A rejection where WhatsApp has no message for this content; else null. */
export function rejectUnsendable({ files, text, template }: Outgoing): Outcome | null {
  if (template !== null) return null
  if (files.length > 1) return rejected('A WhatsApp message can carry only one file.')
  if (files[0]?.type === 'audio' && text !== '')
    return rejected('An audio message cannot have a caption on WhatsApp.')
  return files.length === 0 && text === '' ? rejected('The message has no text.') : null
}

function rejected(detail: string): Outcome {
  return { kind: 'rejected', code: 'MESSAGE_REJECTED', detail }
}

/** The files that must be uploaded before the message is submitted. */
export function filesOf({ files, template }: Outgoing): readonly OutgoingFile[] {
  if (template === null) return files
  const { header } = template
  return header === null || header.type === 'text' ? [] : [header.file]
}

/** The body of a submit. Source: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages. */
export function bodyOf(message: Outgoing, media: Media): object {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // In the form of WhatsApp's ids: country code and digits only.
    to: withoutPlus(message.to),
    ...contentOf(message, media),
    // Each status returns it: so an attempt whose answer was lost still gets its outcome.
    biz_opaque_callback_data: message.attemptId,
  }
}

function contentOf(message: Outgoing, media: Media): object {
  if (message.template !== null) {
    return { type: 'template', template: templateOf(message.template, message, media) }
  }
  const [file] = message.files
  if (file) return { type: file.type, [file.type]: mediaOf(file, message.text, media) }
  return { type: 'text', text: { body: message.text, preview_url: false } }
}

/** Only documents have a file name. */
function mediaOf(file: OutgoingFile, caption: string, media: Media): object {
  return {
    ...media.get(file),
    ...(caption !== '' && { caption }),
    ...(file.type === 'document' && { filename: file.fileName }),
  }
}

function templateOf(template: OutgoingTemplate, message: Outgoing, media: Media): object {
  return {
    name: template.name,
    language: { code: template.language },
    components: [
      ...headerOf(template.header, media),
      ...(template.body.length === 0 ? [] : [{ type: 'body', parameters: template.body.map(textParameter) }]),
      ...buttonsOf(template, message).map(buttonOf),
    ],
  }
}

function headerOf(header: OutgoingTemplate['header'], media: Media): object[] {
  if (header === null) return []
  if (header.type !== 'text') {
    const { type, file } = header
    return [{ type: 'header', parameters: [{ type, [type]: mediaOf(file, '', media) }] }]
  }
  if (header.variables.length === 0) return []
  return [{ type: 'header', parameters: header.variables.map(textParameter) }]
}

type Button = OutgoingTemplate['buttons'][number]

/** A one-time code is in the body, and again in the button that copies it or fills it in. */
function buttonsOf({ buttons, body }: OutgoingTemplate, { messageType }: Outgoing): readonly Button[] {
  const [code] = body
  const wanting = messageType === 'otp' && buttons.length === 0 && body.length === 1 && code !== undefined
  return wanting ? [{ index: 0, subType: 'url', text: code }] : buttons
}

function buttonOf({ index, subType, text }: Button): object {
  const parameter = subType === 'url' ? textParameter(text) : { type: 'coupon_code', coupon_code: text }
  return { type: 'button', sub_type: subType, index: String(index), parameters: [parameter] }
}

function textParameter(text: string): object {
  return { type: 'text', text }
}
