import type { Faults } from '../../contract/faults.ts'
import type { TemplateButton } from '../../contract/template.ts'
import type { TemplateButtonInput, TemplateCreate } from '../../contract/template-create.ts'
import type { TemplateKind } from './draft-kind.ts'
import { readSegments } from './draft-text.ts'
import { placeholderNumbers, type Segments } from './placeholders.ts'
import { type HeaderFile, type TemplateHeader, URL_PLACEHOLDER } from './spec.ts'

/** Reads the header fields; `file` is the stored file of the header, if any. */
export function readHeader(
  body: TemplateCreate,
  kind: TemplateKind,
  file: HeaderFile | null,
  faults: Faults,
): { header: TemplateHeader | null; segments: Segments | null } {
  const { headerType: type, headerValue } = body
  if (type !== undefined && !supportsHeader(body, kind)) {
    faults.add('headerType', `${type} is not supported for ${body.category} templates of ${kind.provider}`)
    return { header: null, segments: null }
  }
  if (type !== 'text' && headerValue !== undefined) faults.add('headerValue', 'is only for headerType text')
  if (type === undefined || type === 'text') {
    for (const field of ['headerAssetId', 'headerMediaUrl'] as const) {
      if (body[field] !== undefined) faults.add(field, 'is only for headerType image, video or document')
    }
  }
  if (type === undefined) return { header: null, segments: null }
  if (type === 'text') return readTextHeader(body, kind, faults)
  if (file === null && !kind.manual) faults.add('headerAssetId', `is required for headerType ${type}`)
  return { header: { type, file }, segments: null }
}

/** Whether the template can have the header. For web sessions, a file is an attachment of the send instead. */
function supportsHeader(
  { category, subType, headerType }: TemplateCreate,
  { official }: TemplateKind,
): boolean {
  if (official) return subType !== 'otp'
  return category !== 'sms' && category !== 'email' && headerType === 'text'
}

function readTextHeader({ headerValue }: TemplateCreate, { official }: TemplateKind, faults: Faults) {
  if (headerValue === undefined) {
    faults.add('headerValue', 'is required for headerType text')
    return { header: null, segments: null }
  }
  if (/[\r\n]/.test(headerValue)) faults.add('headerValue', 'must be one line')
  const segments = readSegments(headerValue, 'headerValue', faults)
  if (official && placeholderNumbers(segments).length > 1) {
    faults.add('headerValue', 'may have at most one placeholder')
  }
  return { header: { type: 'text', text: headerValue } as const, segments }
}

/** Footers are "not used on web-session templates": there they are ignored. */
export function readFooter(body: TemplateCreate, kind: TemplateKind, faults: Faults): string | null {
  const { footer } = body
  if (footer === undefined) return null
  if (!kind.official) {
    if (body.category === 'sms' || body.category === 'email') {
      faults.add('footer', `is not supported for ${body.category} templates`)
    }
    return null
  }
  if (footer.includes('{{')) faults.add('footer', 'must not have placeholders')
  return body.subType === 'otp' ? null : footer
}

const MAX_BUTTONS: Record<TemplateButtonInput['type'], number> = {
  url: 2,
  phone: 1,
  quick_reply: 10,
  copy_code: 1,
}

/** Reads the buttons of an official template. */
export function readButtons(body: TemplateCreate, kind: TemplateKind, faults: Faults): TemplateButton[] {
  const given = body.buttons ?? []
  if (given.length === 0) return []
  if (!kind.official) {
    faults.add('buttons', 'are only for official templates')
    return []
  }
  if (body.subType === 'otp') {
    faults.add(
      'buttons',
      'must not be given for an OTP template, whose button is built in; otpButtonText sets its label',
    )
    return []
  }
  for (const [type, most] of Object.entries(MAX_BUTTONS)) {
    if (given.filter(button => button.type === type).length > most) {
      faults.add('buttons', `may have at most ${most} of type ${type}`)
    }
  }
  return given.map((button, at) => readButton(button, `buttons[${at}]`, faults))
}

function readButton(button: TemplateButtonInput, path: string, faults: Faults): TemplateButton {
  const { type, text } = button
  if (text.includes('{{')) faults.add(`${path}.text`, 'must not have placeholders')
  switch (type) {
    case 'url':
      return { type, text, ...readUrl(button, path, faults) }
    case 'phone':
      return { type, text, ...readPhone(button, path, faults) }
    case 'copy_code':
      if (button.example === undefined) faults.add(`${path}.example`, 'is required for a copy_code button')
      return { type, text, example: button.example ?? '' }
    case 'quick_reply':
      return { type, text }
  }
}

function readUrl({ url, urlExample }: TemplateButtonInput, path: string, faults: Faults) {
  const fixed = url?.endsWith(URL_PLACEHOLDER) ? url.slice(0, -URL_PLACEHOLDER.length) : url
  const protocol = fixed === undefined ? undefined : URL.parse(fixed)?.protocol
  if (fixed === undefined) faults.add(`${path}.url`, 'is required for a url button')
  else if (fixed.includes('{{')) faults.add(`${path}.url`, 'may have only one placeholder: {{1}}, at its end')
  else if (protocol !== 'https:' && protocol !== 'http:') {
    faults.add(`${path}.url`, 'must be an http or https URL')
  }
  const example = url === fixed ? urlExample : (urlExample ?? `${fixed}example`)
  return { url: url ?? '', ...(example !== undefined && { urlExample: example }) }
}

/** A phone number in E.164, from its own field or a tel: URL. */
function readPhone({ phoneNumber, url }: TemplateButtonInput, path: string, faults: Faults) {
  const given = (phoneNumber ?? url?.replace(/^tel:/, ''))?.replace(/[ ().-]/g, '')
  if (given === undefined) faults.add(`${path}.phoneNumber`, 'is required for a phone button')
  else if (!/^\+[1-9][0-9]{4,14}$/.test(given)) {
    faults.add(`${path}.phoneNumber`, 'must be a phone number in E.164, as in +14155550123')
  }
  return { phoneNumber: given ?? '', url: url ?? `tel:${given ?? ''}` }
}
