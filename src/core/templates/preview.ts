import type { TemplatePreview, TemplatePreviewBody } from '../../contract/template.ts'
import { countSms } from '../../lib/sms-parts.ts'
import { toLocalText } from './local-text.ts'
import { renderTemplate } from './render.ts'
import { examplesOf, fileOf, type HeaderFile, URL_PLACEHOLDER, valueButtonsOf } from './spec.ts'
import type { TemplateRow } from './store.ts'
import { type ButtonValue, checkOfficialValues, readButtonValues, readValues } from './values.ts'

/**
 * What a recipient would see. Given values are checked as in a send; without values, examples are filled in, or the
 * placeholders are left.
 */
export function previewTemplate(
  row: TemplateRow,
  body: TemplatePreviewBody,
  previewUrl: (file: HeaderFile) => string,
): TemplatePreview {
  const { spec, compiled } = row
  const path = body.variablesNamed ? 'variablesNamed' : 'variablesIndexed'
  const isGiven = body[path] !== undefined
  const values = isGiven ? readValues(body, compiled.places, '') : examplesFor(row)
  if (isGiven && row.official) checkOfficialValues(values, body, '')
  const buttons = readButtons(row, body, values)
  const rendered = renderTemplate(compiled, values, path)
  if (isGiven && !row.official) toLocalText(row, rendered, path)
  const { header } = spec
  const file = fileOf(header)
  return {
    text: rendered.text,
    subject: rendered.subject,
    html: compiled.html,
    header: header && {
      type: header.type,
      text: rendered.header,
      previewUrl: file && previewUrl(file),
    },
    footer: compiled.footer,
    buttons: showButtons(row, buttons),
    sms: row.category === 'sms' ? countSms(rendered.text) : null,
  }
}

function examplesFor({ spec, compiled }: TemplateRow): string[] {
  return examplesOf(spec, compiled.places).map((example, at) => example ?? `{{${at + 1}}}`)
}

/** The values of the buttons, if any is given. */
function readButtons(
  { spec }: TemplateRow,
  { buttonVariables }: TemplatePreviewBody,
  values: readonly string[],
): ButtonValue[] {
  const template = { spec, valueButtons: valueButtonsOf(spec) }
  return buttonVariables ? readButtonValues(buttonVariables, template, values, '') : []
}

/** Buttons with the given values, else with their examples. */
function showButtons({ spec }: TemplateRow, values: readonly ButtonValue[]): TemplatePreview['buttons'] {
  return spec.buttons.map((button, at) => {
    const given = values.find(({ index }) => index === at)?.text
    return { type: button.type, text: button.text, value: showValue(button, given) }
  })
}

function showValue(button: TemplateRow['spec']['buttons'][number], given: string | undefined): string | null {
  switch (button.type) {
    case 'url': {
      const { url = '', urlExample } = button
      if (!url.endsWith(URL_PLACEHOLDER)) return url
      return given === undefined ? (urlExample ?? url) : url.slice(0, -URL_PLACEHOLDER.length) + given
    }
    case 'copy_code':
      return given ?? button.example ?? null
    case 'phone':
      return button.phoneNumber ?? null
    case 'quick_reply':
      return null
  }
}
