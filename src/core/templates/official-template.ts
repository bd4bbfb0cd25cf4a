import type { OfficialButton, OfficialTemplate, OutgoingFile } from '../../channels/provider.ts'
import type { TemplateButton } from '../../contract/template.ts'
import { placeholderNumbers, type Segments } from './placeholders.ts'
import { examplesOf, type HeaderFile, type TemplateDraft, URL_PLACEHOLDER } from './spec.ts'

/** A template in the form in which it is submitted to a provider. */
export function toOfficialTemplate(
  draft: TemplateDraft,
  providerName: string,
  open: (file: HeaderFile, type: 'image' | 'video' | 'document') => OutgoingFile,
): OfficialTemplate {
  const { spec, compiled } = draft
  const examples = examplesOf(spec, compiled.places).map((each, at) => each ?? `example ${at + 1}`)
  return {
    name: providerName,
    language: draft.language,
    subType: draft.subType,
    header: toHeader(draft, examples, open),
    body: spec.otp ? '' : (spec.body ?? ''),
    examples: examples.slice(0, compiled.bodyPlaces),
    footer: spec.footer,
    buttons: spec.buttons.map(toButton),
    otp: spec.otp,
  }
}

function toHeader(
  { spec: { header }, compiled }: TemplateDraft,
  examples: readonly string[],
  open: Parameters<typeof toOfficialTemplate>[2],
): OfficialTemplate['header'] {
  if (header === null) return null
  if (header.type !== 'text')
    return header.file && { type: header.type, file: open(header.file, header.type) }
  return {
    type: 'text',
    text: renumber(compiled.header ?? []),
    examples: placeholderNumbers(compiled.header ?? []).map(place => examples[place - 1]!),
  }
}

/** Providers number the header's placeholders separately from the body's. */
function renumber(segments: Segments): string {
  const order = placeholderNumbers(segments)
  return segments
    .map(segment => (typeof segment === 'string' ? segment : `{{${order.indexOf(segment) + 1}}}`))
    .join('')
}

function toButton(button: TemplateButton): OfficialButton {
  const { type, text } = button
  switch (type) {
    case 'url': {
      const { url = '', urlExample = null } = button
      // Only a URL with a placeholder has an example.
      return { type, text, url, urlExample: url.endsWith(URL_PLACEHOLDER) ? urlExample : null }
    }
    case 'phone':
      return { type, text, phoneNumber: button.phoneNumber ?? '' }
    case 'copy_code':
      return { type, text, example: button.example ?? '' }
    case 'quick_reply':
      return { type, text }
  }
}
