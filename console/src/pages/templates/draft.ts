import type {
  HeaderType,
  OtpType,
  TemplateButton,
  TemplateCreate,
  TemplateView,
} from '../../../../sdk/index.ts'
import { type Kind, kindOf } from './kinds.ts'
import { ownPath } from './own-path.ts'
import { placesOf } from './places.ts'

export type ButtonDraft = {
  type: TemplateButton['type']
  text: string
  url: string
  urlExample: string
  phoneNumber: string
  example: string
}

/** A template as its form has it: every field there, those of other kinds too. */
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
  /** Where the uploaded file can be seen; not sent. */
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
  /** It stands at the provider already. */
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

/** A new one like this one, under another name: what was approved is never changed. */
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

/** The platform itself says what an official one-time code is said with. */
export function isPlatformsWords({ kind, subType }: Pick<Draft, 'kind' | 'subType'>): boolean {
  return kind === 'official' && subType === 'otp'
}

/** Places of all texts that share their numbers. */
export function placesIn(draft: Draft): number {
  if (draft.bound) return Number(draft.manualVariableCount) || 0
  if (isPlatformsWords(draft)) return 1
  return placesOf(draft.words, draft.emailSubject, draft.headerType === 'text' ? draft.headerValue : '')
}

/** What is said to the API: only what belongs to the kind. */
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
  if (draft.bound || isPlatformsWords(draft)) return {}
  const given = draft.examples
    .slice(0, placesIn(draft))
    .flatMap((label, at) => (label === '' ? [] : [{ index: at + 1, label }]))
  return given.length === 0 ? {} : { bodyParameters: given }
}

/** The form's name of a field that the API complains about. */
export function fieldOf(path: string): string {
  if (path === 'content' || path === 'body') return 'words'
  return path.replace(/^bodyParameters\[(\d+)\].*$/, 'examples.$1')
}
