import type {
  HeaderType,
  OtpType,
  TemplateButton,
  TemplateCategory,
  TemplateProvider,
  TemplateSubType,
} from '../../contract/template.ts'
import type { AccountId, AssetId } from '../../lib/ids.ts'
import type { CompiledTemplate } from './render.ts'

/** What a template is, apart from who owns it and how it stands; stored as JSON. */
export type TemplateSpec = {
  body: string | null
  content: string | null
  emailSubject: string | null
  header: TemplateHeader | null
  footer: string | null
  buttons: readonly TemplateButton[]
  bodyParameters: readonly { index: number; label: string }[] | null
  otp: TemplateOtp | null
  /** It stood at the provider before, and was bound to by its id there. */
  manual: boolean
}

export type TemplateHeader =
  | { type: 'text'; text: string }
  /** Without a file where each send brings its own. */
  | { type: Exclude<HeaderType, 'text'>; file: HeaderFile | null }

/** The file that a header shows by itself; null for a text, and where each send brings its own. */
export function fileOf(header: TemplateHeader | null): HeaderFile | null {
  return header === null || header.type === 'text' ? null : header.file
}

/** The stored file of a header, with what a send needs to know of it without looking it up. */
export type HeaderFile = {
  /** Whose file it is: the template's owner's, or the platform's. */
  accountId: AccountId
  assetId: AssetId
  mimetype: string
  fileName: string
  sizeBytes: number
}

export type TemplateOtp = {
  type: OtpType
  addSecurityRecommendation: boolean
  codeExpirationMinutes: number | null
  buttonText: string | null
  packageName: string | null
  signatureHash: string | null
  zeroTapTermsAccepted: boolean
}

/** A template that keeps every rule, before it is stored or put before anybody. */
export type TemplateDraft = {
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  /** '' where it has none. */
  language: string
  provider: TemplateProvider
  /** What the provider calls it already; for bound ones alone. */
  providerTemplateId: string | null
  spec: TemplateSpec
  compiled: CompiledTemplate
}

/** A button that wants a value at each send. */
export type ValueButton = { index: number; subType: 'url' | 'copy_code'; example: string | null }

/** The place that the address of a button may end in. */
export const URL_PLACE = '{{1}}'

/** The buttons that want a value; those of an OTP are filled with its code by themselves. */
export function valueButtonsOf({ buttons }: Pick<TemplateSpec, 'buttons'>): ValueButton[] {
  return buttons.flatMap((button, index): ValueButton[] => {
    if (button.type === 'url' && button.url?.endsWith(URL_PLACE)) {
      return [{ index, subType: 'url', example: button.urlExample ?? null }]
    }
    if (button.type === 'copy_code') return [{ index, subType: 'copy_code', example: button.example ?? null }]
    return []
  })
}

/** Whether it says a code that comes without any other value, as where nobody names a template. */
export function saysCodeAlone({ subType, compiled }: Pick<TemplateDraft, 'subType' | 'compiled'>): boolean {
  return subType === 'otp' && compiled.places === 1
}

/** An example value for each place; null where nobody gave one. */
export function examplesOf(spec: Pick<TemplateSpec, 'bodyParameters'>, places: number): (string | null)[] {
  const labels = new Map(spec.bodyParameters?.map(({ index, label }) => [index, label]))
  return Array.from({ length: places }, (_, at) => labels.get(at + 1) ?? null)
}
