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

/** The definition of a template, without owner and state; stored as JSON. */
export type TemplateSpec = {
  body: string | null
  content: string | null
  emailSubject: string | null
  header: TemplateHeader | null
  footer: string | null
  buttons: readonly TemplateButton[]
  bodyParameters: readonly { index: number; label: string }[] | null
  otp: TemplateOtp | null
  /** It was bound to an existing template of the provider by its id. */
  manual: boolean
}

export type TemplateHeader =
  | { type: 'text'; text: string }
  /** `file` is null if each send has its own. */
  | { type: Exclude<HeaderType, 'text'>; file: HeaderFile | null }

/** The header's own file; null for a text header, and if each send has its own file. */
export function fileOf(header: TemplateHeader | null): HeaderFile | null {
  return header === null || header.type === 'text' ? null : header.file
}

/** The stored file of a header, with all that a send needs without a look-up. */
export type HeaderFile = {
  /** The owner of the file: the template's owner, or the platform. */
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

/** A template that passed all checks, before it is submitted and stored. */
export type TemplateDraft = {
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  /** '' for none. */
  language: string
  provider: TemplateProvider
  /** The provider's id of an existing template; only for bound templates. */
  providerTemplateId: string | null
  spec: TemplateSpec
  compiled: CompiledTemplate
}

/** A button that needs a value in each send. */
export type ValueButton = { index: number; subType: 'url' | 'copy_code'; example: string | null }

/** The placeholder at the end of a button's URL. */
export const URL_PLACEHOLDER = '{{1}}'

/** The buttons that need a value; the button of an OTP is filled with the code. */
export function valueButtonsOf({ buttons }: Pick<TemplateSpec, 'buttons'>): ValueButton[] {
  return buttons.flatMap((button, index): ValueButton[] => {
    if (button.type === 'url' && button.url?.endsWith(URL_PLACEHOLDER)) {
      return [{ index, subType: 'url', example: button.urlExample ?? null }]
    }
    if (button.type === 'copy_code') return [{ index, subType: 'copy_code', example: button.example ?? null }]
    return []
  })
}

/** Whether the code is the only value, so that it can be used where a send names no template. */
export function isCodeOnly({ subType, compiled }: Pick<TemplateDraft, 'subType' | 'compiled'>): boolean {
  return subType === 'otp' && compiled.places === 1
}

/** An example value for each placeholder; null if none was given. */
export function examplesOf(spec: Pick<TemplateSpec, 'bodyParameters'>, places: number): (string | null)[] {
  const labels = new Map(spec.bodyParameters?.map(({ index, label }) => [index, label]))
  return Array.from({ length: places }, (_, at) => labels.get(at + 1) ?? null)
}
