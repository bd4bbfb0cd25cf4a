import type { Channel } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { StoredAttachment, StoredTemplate } from '../outbox/stored-content.ts'
import { MAX_CHAT_CHARACTERS, toLocalText } from '../templates/local-text.ts'
import { placeholderNumbers } from '../templates/placeholders.ts'
import { joinParts, renderTemplate } from '../templates/render.ts'
import type { TemplateSnapshot } from '../templates/snapshot.ts'
import type { TemplateBinding } from '../templates/store.ts'
import { type ButtonValue, checkOfficialValues, readButtonValues, readValues } from '../templates/values.ts'
import { MAX_CAPTION_CHARACTERS, type RenderedText } from './content.ts'
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
  readButtonValues(body.template?.buttonVariables, template, values, 'template.')
  headerFileOf(body, template, sources)
  return { rendered: renderLocal(body, template, values), stored: null }
}

/** Renders a bare code with the account's default template. */
export function renderCode(template: TemplateSnapshot, code: string): RenderedTemplate {
  const values = [code]
  const { official } = template
  if (!official) return { rendered: renderLocal({}, template, values), stored: null }
  const buttons = readButtonValues(undefined, template, values, 'template.')
  return fillOfficial(template, official, { values, buttons, file: null })
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
  values: readonly string[],
): RenderedText {
  const longest = attachment ? MAX_CAPTION_CHARACTERS : MAX_CHAT_CHARACTERS
  return toLocalText(template, renderTemplate(template.compiled, values), 'template', longest)
}

function renderOfficial(
  body: SingleSendBody,
  template: TemplateSnapshot,
  official: TemplateBinding,
  values: readonly string[],
  sources: HeaderSources,
): RenderedTemplate {
  checkOfficialValues(values, body.template ?? {}, 'template.')
  const buttons = readButtonValues(body.template?.buttonVariables, template, values, 'template.')
  const file = headerFileOf(body, template, sources)
  return fillOfficial(template, official, { values, buttons, file })
}

type OfficialParts = {
  values: readonly string[]
  buttons: readonly ButtonValue[]
  /** Of a media header. */
  file: StoredAttachment | null
}

/** The provider renders the template itself; the text, as the recipient reads it, is for our records. */
function fillOfficial(
  { compiled, language }: TemplateSnapshot,
  { providerName, providerTemplateId }: TemplateBinding,
  { values, buttons, file }: OfficialParts,
): RenderedTemplate {
  const text = joinParts(compiled, renderTemplate(compiled, values))
  const header = file
    ? ({ type: file.type, file } as StoredTemplate['header'])
    : compiled.header && {
        type: 'text' as const,
        variables: placeholderNumbers(compiled.header).map(place => values[place - 1]!),
      }
  const body = values.slice(0, compiled.bodyPlaces)
  return {
    rendered: { text, subject: null, html: false, sms: null },
    stored: { name: providerName, language, providerTemplateId, header, body, buttons },
  }
}
