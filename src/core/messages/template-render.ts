import { type Channel, isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { StoredTemplate } from '../outbox/stored-content.ts'
import { placeholderNumbers } from '../templates/placeholders.ts'
import { joinParts, renderTemplate } from '../templates/render.ts'
import type { TemplateSnapshot } from '../templates/snapshot.ts'
import { type ButtonValue, checkOfficialValues, readButtonValues, readValues } from '../templates/values.ts'
import { composeSms, MAX_CAPTION_CHARACTERS, MAX_CHAT_CHARACTERS, type RenderedText } from './content.ts'
import { type HeaderSources, headerFileOf } from './template-header.ts'

/** The rendered text of a template; `stored` is set if the provider fills the template in itself. */
export type RenderedTemplate = { rendered: RenderedText; stored: StoredTemplate | null }

/** Renders a template with the values of a send. Throws a 400 that names the field. */
export function renderNamedTemplate(
  body: SingleSendBody,
  template: TemplateSnapshot,
  channel: Channel,
  sources: HeaderSources,
): RenderedTemplate {
  refuseOwnText(body, channel)
  const values = valuesOf(body, template)
  if (template.official) return renderOfficial(body, template, template.official, values, sources)
  readButtonValues(body.template?.buttonVariables, [], 'template.')
  headerFileOf(body, template, sources)
  return { rendered: renderLocal(body, template, channel, values), stored: null }
}

/** Renders a bare code with the account's default template. */
export function renderCode(template: TemplateSnapshot, channel: Channel, code: string): RenderedTemplate {
  const values = [code]
  if (template.official)
    return { ...officialText(template, values), stored: storedOtpTemplate(template, values) }
  return { rendered: renderLocal({}, template, channel, values), stored: null }
}

/** Throws a 400 if a send with a template has a text or, on e-mail, a subject: they come from the template. */
function refuseOwnText({ text, content }: SingleSendBody, channel: Channel): void {
  if (content?.text) throw invalid('content.text', 'is not allowed with a template, which has its own text')
  if (text) throw invalid('text', 'is not allowed with a template, which has its own text')
  if (channel === 'email_user' && content?.subject !== undefined) {
    throw invalid('content.subject', 'is not allowed with a template, which has its own subject')
  }
}

/** The values of the placeholders. `content.otpCode` is the only value, or must be one of them. */
function valuesOf({ template: use, content }: SingleSendBody, template: TemplateSnapshot): readonly string[] {
  const { places } = template.compiled
  const code = content?.otpCode
  const given = use?.variablesIndexed !== undefined || use?.variablesNamed !== undefined
  if (code !== undefined && !given && places === 1) return [code]
  const values = readValues(use ?? {}, places, 'template.')
  if (code !== undefined && !values.includes(code)) {
    throw invalid('content.otpCode', 'must be among the variables of the template')
  }
  return values
}

function renderLocal(
  { attachment }: Pick<SingleSendBody, 'attachment'>,
  template: TemplateSnapshot,
  channel: Channel,
  values: readonly string[],
): RenderedText {
  const { compiled } = template
  const rendered = renderTemplate(compiled, values)
  if (channel === 'email_user') {
    return { text: rendered.text, subject: rendered.subject, html: compiled.html, sms: null }
  }
  if (isSms(channel)) return composeSms(rendered.text, 'template')
  const text = joinParts(compiled, rendered)
  const limit = attachment ? MAX_CAPTION_CHARACTERS : MAX_CHAT_CHARACTERS
  if (text.length > limit)
    throw invalid('template', `has more than ${limit} characters once filled in; ${channel} allows no more`)
  return { text, subject: null, html: false, sms: null }
}

function renderOfficial(
  body: SingleSendBody,
  template: TemplateSnapshot,
  official: NonNullable<TemplateSnapshot['official']>,
  values: readonly string[],
  sources: HeaderSources,
): RenderedTemplate {
  checkOfficialValues(values, body.template ?? {}, 'template.')
  if (template.spec.otp) {
    checkCodeButton(body, values[0]!)
    // It has no header: a file that the send gives for one would be left out without a word.
    headerFileOf(body, template, sources)
    return { ...officialText(template, values), stored: storedOtpTemplate(template, values) }
  }
  const { compiled } = template
  const buttons = readButtonValues(body.template?.buttonVariables, template.valueButtons, 'template.')
  const file = headerFileOf(body, template, sources)
  const header = file
    ? ({ type: file.type, file } as StoredTemplate['header'])
    : compiled.header && {
        type: 'text' as const,
        variables: placeholderNumbers(compiled.header).map(place => values[place - 1]!),
      }
  return {
    ...officialText(template, values),
    stored: {
      name: official.providerName,
      language: template.language,
      providerTemplateId: official.providerTemplateId,
      header,
      body: values.slice(0, compiled.bodyPlaces),
      buttons,
    },
  }
}

/** The text as the recipient reads it, for our records; the provider renders the template itself. */
function officialText({ compiled }: TemplateSnapshot, values: readonly string[]): { rendered: RenderedText } {
  const text = joinParts(compiled, renderTemplate(compiled, values))
  return { rendered: { text, subject: null, html: false, sms: null } }
}

/** The code is the value of the body and of the button that copies it or fills it in. */
function storedOtpTemplate(template: TemplateSnapshot, values: readonly string[]): StoredTemplate {
  const official = template.official!
  const button: ButtonValue = { index: 0, subType: 'url', text: values[0]! }
  return {
    name: official.providerName,
    language: template.language,
    providerTemplateId: official.providerTemplateId,
    header: null,
    body: values,
    buttons: [button],
  }
}

/** Throws a 400 if the request gives the code's button another value. */
function checkCodeButton({ template: use }: SingleSendBody, code: string): void {
  use?.buttonVariables?.forEach(({ index, text }, at) => {
    const path = `template.buttonVariables[${at}]`
    if (index !== 0) throw invalid(`${path}.index`, `button ${index} takes no value`)
    if (text !== code) throw invalid(`${path}.text`, 'must be the code itself')
  })
}
