import { Problem } from '../../contract/errors.ts'
import {
  PLATFORM_SENDER,
  type SmsTemplateCreated,
  type TemplateSender,
  type TemplateView,
} from '../../contract/template.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { type ConnectionId, timeOf } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { examplesOf, fileOf, type HeaderFile, type TemplateHeader, valueButtonsOf } from './spec.ts'
import type { TemplateId, TemplateRow, ViewedTemplate } from './store.ts'

/** What views of templates need beside the rows. */
export type ViewContext = {
  /** The default templates (chosenDefaults in snapshot.ts). */
  defaults: ReadonlySet<TemplateId>
  /** The view of an official sender; null if it was deleted. */
  senderOf(connectionId: ConnectionId, onPlatformNumber: boolean): TemplateSender | null
  previewUrl(file: HeaderFile): string
}

/** A template, for an account that may use it. */
export function viewTemplate(row: ViewedTemplate, context: ViewContext): TemplateView {
  const { spec, compiled, official } = row
  return {
    id: row.id,
    name: row.name,
    category: row.category,
    subType: row.subType,
    language: row.language || null,
    status: row.status,
    statusReason: row.reason,
    body: spec.body,
    bodyParameters: spec.bodyParameters && [...spec.bodyParameters],
    ...viewHeader(spec.header, context),
    allowsHeaderMediaOverride: allowsHeaderOverride(row),
    footer: spec.footer,
    buttons: spec.buttons.length === 0 ? null : [...spec.buttons],
    urlButtonVariables: valueButtonsOf(spec),
    indexedPlaceholders: Array.from({ length: compiled.places }, (_, at) => `{{${at + 1}}}`),
    content: spec.content,
    emailSubject: spec.emailSubject,
    parameters: examplesOf(spec, compiled.places),
    provider: row.provider,
    providerTemplateId: official?.providerTemplateId ?? null,
    manualProvider: spec.manual ? row.provider : null,
    officialSenderId: official && (official.onPlatformNumber ? PLATFORM_SENDER : official.connectionId),
    officialSender: official && context.senderOf(official.connectionId, official.onPlatformNumber),
    isPlatformNumber: official?.onPlatformNumber ?? false,
    isPlatformTemplate: row.accountId === PLATFORM,
    isDefault: context.defaults.has(row.id),
    ...viewOtp(row),
    lastCheckedAt: isoOrNull(row.lastCheckedAtMs),
    createdAt: toIso(timeOf(row.id)),
  }
}

function viewHeader(header: TemplateHeader | null, { previewUrl }: ViewContext) {
  const file = fileOf(header)
  return {
    headerType: header?.type ?? null,
    headerValue: header?.type === 'text' ? header.text : null,
    headerAssetId: file?.assetId ?? null,
    headerPreviewUrl: file && previewUrl(file),
  }
}

function viewOtp({ spec: { otp } }: ViewedTemplate) {
  return {
    otpType: otp?.type ?? null,
    addSecurityRecommendation: otp?.addSecurityRecommendation ?? null,
    codeExpirationMinutes: otp?.codeExpirationMinutes ?? null,
    otpButtonText: otp?.buttonText ?? null,
    packageName: otp?.packageName ?? null,
    signatureHash: otp?.signatureHash ?? null,
  }
}

/** Whether a send may give another header file: for official templates with a media header. */
export function allowsHeaderOverride({ official, spec: { header } }: ViewedTemplate): boolean {
  return official !== null && header !== null && header.type !== 'text'
}

/** "A create response for an SMS template returns only id, name, category, status." */
export function viewSmsCreated({ id, name, status }: TemplateRow): SmsTemplateCreated {
  return { id, name, category: 'sms', status }
}

export function unknownTemplate(path?: string): Problem {
  const text = 'Template not found'
  return new Problem('NOT_FOUND', text, path === undefined ? {} : { details: [{ path, message: text }] })
}
