import { createFaults, type Faults } from '../../contract/faults.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import { readKind, type TemplateKind } from './draft-kind.ts'
import { otpText, readOtp } from './draft-otp.ts'
import { readButtons, readFooter, readHeader } from './draft-parts.ts'
import { countPlaceholders, type DraftText, readText } from './draft-text.ts'
import { MAX_PLACEHOLDERS, type Segments } from './placeholders.ts'
import type { CompiledTemplate } from './render.ts'
import type { HeaderFile, TemplateDraft, TemplateOtp } from './spec.ts'

const NAME = /^[a-z][a-z_]*$/
const MAX_NAME = 200
/** ISO 639, optionally with a country or script: en, pt_BR, zh_Hant. */
const LANGUAGE = /^[a-z]{2,3}([_-][A-Za-z0-9]{2,8})*$/
const DEFAULT_LANGUAGE = 'en'

/**
 * Checks the body of a create against all rules, and parses its placeholders. Pure;
 * throws one VALIDATION_ERROR that names every field at fault. `file` is the file of the
 * header, looked up before.
 */
export function draftTemplate(body: TemplateCreate, file: HeaderFile | null): TemplateDraft {
  const faults = createFaults()
  checkName(body.name, faults)
  const kind = readKind(body, faults)
  const language = readLanguage(body, kind, faults)
  const text = readText(body, kind, faults)
  const { header, segments } = readHeader(body, kind, file, faults)
  const footer = readFooter(body, kind, faults)
  const buttons = readButtons(body, kind, faults)
  const otp = readOtp(body, kind, faults)
  const compiled = compile(body, kind, { text, header: segments, footer, otp }, faults)
  checkParameters(body, compiled.places, faults)
  faults.check()
  return {
    name: body.name,
    category: body.category,
    subType: body.subType,
    language,
    provider: kind.provider,
    providerTemplateId: body.providerTemplateId ?? null,
    spec: {
      body: text.body,
      content: text.content,
      emailSubject: text.emailSubject,
      header,
      footer,
      buttons,
      bodyParameters: body.bodyParameters ?? null,
      otp,
      manual: kind.manual,
    },
    compiled,
  }
}

function checkName(name: string, faults: Faults): void {
  if (!NAME.test(name) || name.length > MAX_NAME) {
    faults.add(
      'name',
      `Invalid template name: must be lowercase English letters and underscores, a letter first, ${MAX_NAME} characters at most`,
    )
  }
}

/** Official templates always have a language; '' for others without one. Spelled with underscores. */
function readLanguage({ language }: TemplateCreate, { official }: TemplateKind, faults: Faults): string {
  if (language === undefined) return official ? DEFAULT_LANGUAGE : ''
  if (!LANGUAGE.test(language)) faults.add('language', 'must be a language code, as in en or en_US')
  return normalizeLanguage(language)
}

/** `en-US` and `en_US` are the same language. */
export function normalizeLanguage(language: string): string {
  return language.replaceAll('-', '_')
}

type DraftParts = { text: DraftText; header: Segments | null; footer: string | null; otp: TemplateOtp | null }

function compile(
  body: TemplateCreate,
  kind: TemplateKind,
  { text, header, footer, otp }: DraftParts,
  faults: Faults,
): CompiledTemplate {
  const otpTexts = otp && otpText(otp)
  const segments = text.segments.length === 0 && otpTexts ? otpTexts.body : text.segments
  const bodyPlaces = kind.manual
    ? countBoundPlaceholders(body, segments, text.path, faults)
    : countPlaceholders([segments, text.subject ?? []], text.path, faults)
  checkOtpPlaceholders(body, kind, bodyPlaces, text.path, faults)
  return {
    places: header === null ? bodyPlaces : countWithHeader(header, segments, bodyPlaces, faults),
    bodyPlaces,
    body: segments,
    html: text.html,
    subject: text.subject,
    header,
    footer: otpTexts ? otpTexts.footer : footer,
  }
}

/** The placeholders of a bound template: as many as the owner says, and as in the body if there is one. */
function countBoundPlaceholders(
  body: TemplateCreate,
  segments: Segments,
  field: string,
  faults: Faults,
): number {
  const counted = countPlaceholders([segments], field, faults)
  const declared = body.manualVariableCount
  if (declared !== undefined && segments.length > 0 && declared !== counted) {
    faults.add(
      'manualVariableCount',
      `is ${declared}, but the number of placeholders in ${field} is ${counted}`,
    )
  }
  return declared ?? counted
}

/** An OTP needs a placeholder for its code; an official one has exactly that one. */
function checkOtpPlaceholders(
  body: TemplateCreate,
  { official }: TemplateKind,
  places: number,
  field: string,
  faults: Faults,
): void {
  if (body.subType !== 'otp') return
  if (places === 0) faults.add(field, 'must have a placeholder for the code: {{1}}')
  else if (official && places > 1)
    faults.add(field, 'of an official OTP template may have only one placeholder: {{1}}, for the code')
}

/** Header and body share one numbering: the header may reuse the body's numbers or continue them. */
function countWithHeader(header: Segments, body: Segments, bodyPlaces: number, faults: Faults): number {
  const bodyNumbers: Segments = Array.from({ length: bodyPlaces }, (_, at) => at + 1)
  const places = countPlaceholders([header, body, bodyNumbers], 'headerValue', faults)
  if (places > MAX_PLACEHOLDERS)
    faults.add('headerValue', `has, together with the body, more than ${MAX_PLACEHOLDERS} placeholders`)
  return places
}

function checkParameters({ bodyParameters }: TemplateCreate, places: number, faults: Faults): void {
  const seen = new Set<number>()
  bodyParameters?.forEach(({ index }, at) => {
    const path = `bodyParameters[${at}].index`
    if (seen.has(index)) faults.add(path, `${index} is given twice`)
    else if (index > places) faults.add(path, `there is no placeholder {{${index}}}`)
    seen.add(index)
  })
}
