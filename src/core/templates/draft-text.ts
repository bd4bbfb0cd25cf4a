import type { Faults } from '../../contract/faults.ts'
import { MAX_PARTS_OF_SMS } from '../../contract/send.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import { looksLikeHtml } from '../../lib/html.ts'
import { countSms } from '../../lib/sms-parts.ts'
import type { TemplateKind } from './draft-kind.ts'
import { firstGap, isFault, parsePlaceholders, placeholderNumbers, type Segments } from './placeholders.ts'

/** The texts of a template, with placeholders parsed. */
export type DraftText = {
  /** The field that contains the text, where faults are reported. */
  path: 'body' | 'content'
  body: string | null
  content: string | null
  emailSubject: string | null
  segments: Segments
  subject: Segments | null
  html: boolean
}

/** Longest text of each kind, in characters. */
const LIMITS = { official: 1_024, chat: 4_096, sms: 1_600, email: 500_000 }
const NO_SEGMENTS: Segments = []

/** Reads body, content and emailSubject. */
export function readText(body: TemplateCreate, kind: TemplateKind, faults: Faults): DraftText {
  const subject = readSubject(body, faults)
  const inBody = body.category === 'chatapp'
  const { text, path } = readTextField(body, inBody ? 'body' : 'content', faults)
  checkLength(text, path, body, kind, faults)
  if (text === null && !isTextOptional(body, kind)) {
    faults.add(path, `is required for category ${body.category}`)
  }
  const segments = text === null ? NO_SEGMENTS : readSegments(text, path, faults)
  if (body.category === 'sms') checkParts(segments, path, faults)
  return {
    path,
    body: inBody ? text : null,
    content: inBody ? null : text,
    emailSubject: body.category === 'email' ? (body.emailSubject ?? null) : null,
    segments,
    subject,
    html: body.category === 'email' && text !== null && looksLikeHtml(text),
  }
}

/** The category's own field; the other one is an alias. */
function readTextField(
  body: TemplateCreate,
  ownField: 'body' | 'content',
  faults: Faults,
): { text: string | null; path: 'body' | 'content' } {
  const aliasField = ownField === 'body' ? 'content' : 'body'
  if (body[ownField] !== undefined && body[aliasField] !== undefined && body[ownField] !== body[aliasField]) {
    faults.add(aliasField, `differs from ${ownField}, which has the text for category ${body.category}`)
  }
  const path = body[ownField] === undefined && body[aliasField] !== undefined ? aliasField : ownField
  return { text: body[path] || null, path }
}

/** Whether the text may be absent: the provider has the text of official OTPs and of bound templates. */
function isTextOptional(body: TemplateCreate, kind: TemplateKind): boolean {
  return kind.official && (kind.manual || body.subType === 'otp')
}

function checkLength(
  text: string | null,
  path: string,
  { category }: TemplateCreate,
  kind: TemplateKind,
  faults: Faults,
): void {
  const limit = kind.official
    ? LIMITS.official
    : LIMITS[category === 'sms' || category === 'email' ? category : 'chat']
  if (text !== null && text.length > limit) faults.add(path, `must be at most ${limit} characters`)
}

/** A text that is too long without its values is refused here: no send could use the template. */
function checkParts(segments: Segments, path: string, faults: Faults): void {
  const { parts, encoding } = countSms(segments.filter(each => typeof each === 'string').join(''))
  if (parts > MAX_PARTS_OF_SMS) {
    faults.add(
      path,
      `needs ${parts} SMS parts in ${encoding} without its values; at most ${MAX_PARTS_OF_SMS} are allowed`,
    )
  }
}

function readSubject(body: TemplateCreate, faults: Faults): Segments | null {
  const { category, emailSubject } = body
  if (category !== 'email') {
    if (emailSubject !== undefined)
      faults.add('emailSubject', `is only for category email, not for ${category}`)
    return null
  }
  if (emailSubject === undefined) {
    faults.add('emailSubject', 'is required for category email')
    return null
  }
  if (/[\r\n]/.test(emailSubject)) faults.add('emailSubject', 'must be one line')
  return readSegments(emailSubject, 'emailSubject', faults)
}

/** The segments of a text; adds a fault at `path` for invalid placeholders. */
export function readSegments(text: string, path: string, faults: Faults): Segments {
  const parsed = parsePlaceholders(text)
  if (!isFault(parsed)) return parsed
  faults.add(path, parsed.message)
  return [text]
}

/** The number of placeholders of all texts together; adds a fault at `path` if a number is missing. */
export function countPlaceholders(texts: readonly Segments[], path: string, faults: Faults): number {
  const places = placeholderNumbers(...texts)
  const gap = firstGap(places)
  if (gap !== null) {
    const seen = places.map(place => `{{${place}}}`).join(', ')
    faults.add(
      path,
      `the placeholders must run from {{1}} without a gap: {{${gap}}} is missing among ${seen}`,
    )
  }
  return places.length
}
