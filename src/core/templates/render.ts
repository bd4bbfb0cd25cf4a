import { invalid } from '../../contract/errors.ts'
import { TEXT_MAX } from '../../contract/send.ts'
import { escapeHtml } from '../../lib/html.ts'
import type { Segments } from './placeholders.ts'

/** The texts of a template, parsed for filling in values. */
export type CompiledTemplate = {
  /** How many values are needed for subject, header and body together. */
  places: number
  /** How many of them belong to the body: 1 to this. */
  bodyPlaces: number
  body: Segments
  /** The body is HTML, so values are escaped. */
  html: boolean
  /** Only for e-mail. */
  subject: Segments | null
  /** Only for text headers. */
  header: Segments | null
  footer: string | null
}

/** A template with its values. */
export type RenderedTemplate = { text: string; subject: string | null; header: string | null }

/**
 * Fills values in, for sends, previews and estimates. Pure, and cheap:
 * `npm run bench -- render` requires 100,000 a second. Throws a 400
 * at `path` if a text becomes longer than `TEXT_MAX`.
 */
export function renderTemplate(
  template: CompiledTemplate,
  values: readonly string[],
  path = 'template',
): RenderedTemplate {
  const { body, html, subject, header } = template
  return {
    // Each value is escaped once, however often it is used.
    text: fill(body, html ? values.map(escapeHtml) : values, path),
    subject: subject && oneLine(fill(subject, values, path)),
    header: header && fill(header, values, path),
  }
}

/** The text of a chat message: header, body and footer, separated by empty lines. */
export function joinParts(template: CompiledTemplate, { header, text }: RenderedTemplate): string {
  return [header, text, template.footer].filter(part => part !== null && part !== '').join('\n\n')
}

/** Checks the length as it goes: a placeholder may be repeated often, and long values could fill the memory. */
function fill(segments: Segments, values: readonly string[], path: string): string {
  let text = ''
  for (const segment of segments) {
    text += typeof segment === 'string' ? segment : values[segment - 1]!
    if (text.length > TEXT_MAX)
      throw invalid(path, `becomes longer than ${TEXT_MAX} characters with its values`)
  }
  return text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not stand in a header line
const BREAKS = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g

/** A value must not break a subject into further header lines. */
function oneLine(text: string): string {
  return text.replace(BREAKS, ' ')
}
