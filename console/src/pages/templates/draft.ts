import type {
  HeaderType,
  OtpType,
  TemplateButton,
  TemplateCreate,
  TemplateView,
} from '../../../../sdk/index.ts'
import { type Kind, kindOf } from './kinds.ts'
import { ownPath } from './own-path.ts'
import { highestPlaceholder } from './placeholders.ts'

export type ButtonDraft = {
  type: TemplateButton['type']
  text: string
  url: string
  urlExample: string
  phoneNumber: string
  example: string
}

/** The values of the template form, with the fields of all kinds. */
export type Draft = {
  kind: Kind
  name: string
  subType: TemplateView['subType']
  language: string
  words: string
  emailSubject: string
  headerType: HeaderType | ''
  headerValue: string
  headerAssetId: string
  /** URL of the uploaded file for the preview; not sent. */
  headerPreview: string
  footer: string
  buttons: ButtonDraft[]
  examples: string[]
  otpType: OtpType
  addSecurityRecommendation: boolean
  codeExpirationMinutes: number | string
  otpButtonText: string
  packageName: string
  signatureHash: string
  zeroTapTermsAccepted: boolean
  officialSenderId: string
  /** It already exists at the provider. */
  bound: boolean
  providerTemplateId: string
  manualVariableCount: number | string
}

export const NEW_BUTTON: ButtonDraft = {
  type: 'url',
  text: '',
  url: '',
  urlExample: '',
  phoneNumber: '',
  example: '',
}

export const NEW_DRAFT: Draft = {
  kind: 'sms',
  name: '',
  subType: 'utility',
  language: 'en',
  words: '',
  emailSubject: '',
  headerType: '',
  headerValue: '',
  headerAssetId: '',
  headerPreview: '',
  footer: '',
  buttons: [],
  examples: [],
  otpType: 'copy_code',
  addSecurityRecommendation: true,
  codeExpirationMinutes: 10,
  otpButtonText: '',
  packageName: '',
  signatureHash: '',
  zeroTapTermsAccepted: false,
  officialSenderId: '',
  bound: false,
  providerTemplateId: '',
  manualVariableCount: 0,
}

/** A copy of a template under a new name: approved templates are never changed. */
export function draftFrom(template: TemplateView): Draft {
  return {
    ...NEW_DRAFT,
    kind: kindOf(template),
    name: template.name,
    subType: template.subType,
    language: template.language ?? 'en',
    words: template.body ?? template.content ?? '',
    emailSubject: template.emailSubject ?? '',
    headerType: template.headerType ?? '',
    headerValue: template.headerValue ?? '',
    headerAssetId: template.headerAssetId ?? '',
    headerPreview: template.headerPreviewUrl === null ? '' : ownPath(template.headerPreviewUrl),
    footer: template.footer ?? '',
    buttons: (template.buttons ?? []).map(button => ({ ...NEW_BUTTON, ...button })),
    examples: template.parameters.map(example => example ?? ''),
    otpType: template.otpType ?? 'copy_code',
    addSecurityRecommendation: template.addSecurityRecommendation ?? false,
    codeExpirationMinutes: template.codeExpirationMinutes ?? '',
    otpButtonText: template.otpButtonText ?? '',
    packageName: template.packageName ?? '',
    signatureHash: template.signatureHash ?? '',
    officialSenderId: template.officialSenderId ?? '',
  }
}

/** WhatsApp defines the text of official one-time code templates. */
export function hasProviderText({ kind, subType }: Pick<Draft, 'kind' | 'subType'>): boolean {
  return kind === 'official' && subType === 'otp'
}

/** The number of placeholders in the texts that share their numbering. */
export function placeholderCount(draft: Draft): number {
  if (draft.bound) return Number(draft.manualVariableCount) || 0
  if (hasProviderText(draft)) return 1
  return highestPlaceholder(
    draft.words,
    draft.emailSubject,
    draft.headerType === 'text' ? draft.headerValue : '',
  )
}

/** The request body, with only the fields of the kind. */
export function toBody(draft: Draft): TemplateCreate {
  const { kind, name, subType, language, words } = draft
  const common = { name, subType, ...examplesOf(draft) }
  switch (kind) {
    case 'sms':
      return { ...common, category: 'sms', content: words }
    case 'email':
      return { ...common, category: 'email', language, content: words, emailSubject: draft.emailSubject }
    case 'chat':
      return { ...common, category: 'message', language, content: words, ...textHeader(draft) }
    case 'official':
      return {
        ...common,
        category: 'chatapp',
        provider: 'official_provider',
        language,
        ...officialPart(draft),
      }
  }
}

function officialPart(draft: Draft): Partial<TemplateCreate> {
  const sender = draft.officialSenderId === '' ? {} : { officialSenderId: draft.officialSenderId }
  if (draft.bound) {
    return {
      ...sender,
      creationMode: 'manual_external_id',
      providerTemplateId: draft.providerTemplateId,
      manualVariableCount: Number(draft.manualVariableCount) || 0,
      ...(draft.words !== '' && { body: draft.words }),
    }
  }
  if (draft.subType === 'otp') return { ...sender, ...otpPart(draft) }
  return {
    ...sender,
    body: draft.words,
    ...(draft.headerType === 'text' ? textHeader(draft) : fileHeader(draft)),
    ...(draft.footer !== '' && { footer: draft.footer }),
    ...(draft.buttons.length > 0 && { buttons: draft.buttons.map(toButton) }),
  }
}

function textHeader({ headerType, headerValue }: Draft): Partial<TemplateCreate> {
  return headerType === 'text' ? { headerType, headerValue } : {}
}

function fileHeader({ headerType, headerAssetId }: Draft): Partial<TemplateCreate> {
  if (headerType === '') return {}
  return { headerType, ...(headerAssetId !== '' && { headerAssetId }) }
}

function otpPart(draft: Draft): Partial<TemplateCreate> {
  const app = draft.otpType !== 'copy_code'
  return {
    otpType: draft.otpType,
    addSecurityRecommendation: draft.addSecurityRecommendation,
    ...(draft.codeExpirationMinutes !== '' && { codeExpirationMinutes: Number(draft.codeExpirationMinutes) }),
    ...(draft.otpButtonText !== '' && { otpButtonText: draft.otpButtonText }),
    ...(app && { packageName: draft.packageName, signatureHash: draft.signatureHash }),
    ...(draft.otpType === 'zero_tap' && { zeroTapTermsAccepted: draft.zeroTapTermsAccepted }),
  }
}

function toButton({ type, text, url, urlExample, phoneNumber, example }: ButtonDraft) {
  switch (type) {
    case 'url':
      return { type, text, url, ...(urlExample !== '' && { urlExample }) }
    case 'phone':
      return { type, text, phoneNumber }
    case 'copy_code':
      return { type, text, example }
    case 'quick_reply':
      return { type, text }
  }
}

function examplesOf(draft: Draft): Pick<TemplateCreate, 'bodyParameters'> {
  if (draft.bound || hasProviderText(draft)) return {}
  const given = draft.examples
    .slice(0, placeholderCount(draft))
    .flatMap((label, at) => (label === '' ? [] : [{ index: at + 1, label }]))
  return given.length === 0 ? {} : { bodyParameters: given }
}

/** The form's field of a path of the API. */
export function fieldOf(path: string): string {
  if (path === 'content' || path === 'body') return 'words'
  return path.replace(/^bodyParameters\[(\d+)\].*$/, 'examples.$1')
}
