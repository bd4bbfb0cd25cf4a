import { type Static, Type } from 'typebox'
import { IsoTime, nullable, oneOf } from './envelope.ts'

export const TEMPLATE_CATEGORIES = ['chatapp', 'sms', 'message', 'email'] as const
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number]

export const TEMPLATE_SUB_TYPES = ['utility', 'otp', 'marketing', 'free'] as const
export type TemplateSubType = (typeof TEMPLATE_SUB_TYPES)[number]

export const TEMPLATE_STATUSES = ['pending', 'approved', 'rejected', 'active', 'disabled'] as const
export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number]

export const TEMPLATE_PROVIDERS = ['user_session', 'official_provider', 'internal'] as const
export type TemplateProvider = (typeof TEMPLATE_PROVIDERS)[number]

export const HEADER_TYPES = ['text', 'image', 'video', 'document'] as const
export type HeaderType = (typeof HEADER_TYPES)[number]

export const OTP_TYPES = ['copy_code', 'one_tap', 'zero_tap'] as const
export type OtpType = (typeof OTP_TYPES)[number]

export const BUTTON_TYPES = ['url', 'phone', 'quick_reply', 'copy_code'] as const

/** The value that stands for the platform's own official number. */
export const PLATFORM_SENDER = 'platform'

/** The official sender that a template is bound to, as the template shows it. */
export const TemplateSender = Type.Object({
  id: Type.String({ description: "`platform` for the platform's own number" }),
  scope: oneOf(['platform', 'official_sender'] as const),
  isPlatform: Type.Boolean(),
  isDefault: Type.Boolean({ description: "Whether it is the account's default sender" }),
  label: nullable(Type.String()),
  phoneNumber: nullable(Type.String({ description: 'E.164' })),
  displayName: Type.String(),
})
export type TemplateSender = Static<typeof TemplateSender>

/** A button as a template shows it. */
export const TemplateButton = Type.Object({
  type: oneOf(BUTTON_TYPES),
  text: Type.String(),
  url: Type.Optional(Type.String()),
  urlExample: Type.Optional(Type.String()),
  phoneNumber: Type.Optional(Type.String()),
  example: Type.Optional(
    Type.String({ description: "The example code of a copy_code button, for the provider's review" }),
  ),
})
export type TemplateButton = Static<typeof TemplateButton>

/** A template as the account that may use it sees it. */
export const TemplateView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  category: oneOf(TEMPLATE_CATEGORIES),
  subType: oneOf(TEMPLATE_SUB_TYPES),
  language: nullable(Type.String()),
  status: oneOf(TEMPLATE_STATUSES),
  statusReason: nullable(Type.String({ description: 'Why it was rejected or disabled' })),
  body: nullable(Type.String()),
  bodyParameters: nullable(Type.Array(Type.Object({ index: Type.Integer(), label: Type.String() }))),
  headerType: nullable(oneOf(HEADER_TYPES)),
  headerValue: nullable(Type.String()),
  headerAssetId: nullable(Type.String()),
  headerPreviewUrl: nullable(Type.String()),
  allowsHeaderMediaOverride: Type.Boolean(),
  footer: nullable(Type.String()),
  buttons: nullable(Type.Array(TemplateButton)),
  urlButtonVariables: Type.Array(
    Type.Object({ index: Type.Integer(), subType: Type.String(), example: nullable(Type.String()) }),
    { description: 'The buttons that need a value in each send, by their index from 0' },
  ),
  indexedPlaceholders: Type.Array(Type.String(), { description: 'For example `{{1}}`, in order' }),
  content: nullable(Type.String()),
  emailSubject: nullable(Type.String()),
  parameters: Type.Array(nullable(Type.String()), {
    description: 'An example value for each placeholder, in order',
  }),
  provider: oneOf(TEMPLATE_PROVIDERS),
  providerTemplateId: nullable(Type.String()),
  manualProvider: nullable(oneOf(TEMPLATE_PROVIDERS)),
  officialSenderId: nullable(Type.String()),
  officialSender: nullable(TemplateSender),
  isPlatformNumber: Type.Boolean(),
  isPlatformTemplate: Type.Boolean({ description: 'Created by the platform for every account' }),
  isDefault: Type.Boolean(),
  otpType: nullable(oneOf(OTP_TYPES)),
  addSecurityRecommendation: nullable(Type.Boolean()),
  codeExpirationMinutes: nullable(Type.Integer()),
  otpButtonText: nullable(Type.String()),
  packageName: nullable(Type.String()),
  signatureHash: nullable(Type.String()),
  lastCheckedAt: nullable(IsoTime),
  createdAt: IsoTime,
})
export type TemplateView = Static<typeof TemplateView>

/** The response to the creation of an SMS template. */
export const SmsTemplateCreated = Type.Object({
  id: Type.String(),
  name: Type.String(),
  category: Type.Literal('sms'),
  status: oneOf(TEMPLATE_STATUSES),
})
export type SmsTemplateCreated = Static<typeof SmsTemplateCreated>

const FILTERS = {
  category: Type.Optional(oneOf(TEMPLATE_CATEGORIES)),
  status: Type.Optional(oneOf(TEMPLATE_STATUSES, { description: 'By default `active` and `approved`' })),
  provider: Type.Optional(oneOf(TEMPLATE_PROVIDERS)),
}

const PAGES = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, description: 'Rows per page; if absent, all of them' }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The `nextCursor` of the previous page; opaque',
    }),
  ),
}

export const PlatformTemplateQuery = Type.Object({ ...FILTERS, ...PAGES })
export type PlatformTemplateQuery = Static<typeof PlatformTemplateQuery>

export const TemplateQuery = Type.Object({
  ...FILTERS,
  officialSenderId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "`platform` for the platform's own number" }),
  ),
  'sender.officialId': Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Alias of officialSenderId' }),
  ),
  ...PAGES,
})
export type TemplateQuery = Static<typeof TemplateQuery>

/** All templates, or one page. */
export const TemplateList = Type.Object({
  data: Type.Array(TemplateView),
  nextCursor: Type.Optional(
    nullable(Type.String({ description: 'Only with `limit`: pass it as `cursor` for the next page' })),
  ),
})

/** Values for a preview of a template; its examples are the defaults. */
export const TemplatePreviewBody = Type.Object({
  variablesIndexed: Type.Optional(Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 100 })),
  variablesNamed: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4_096 }))),
  buttonVariables: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, maximum: 9 }),
        subType: Type.Optional(Type.String({ maxLength: 20 })),
        text: Type.String({ maxLength: 2_000 }),
      }),
      { maxItems: 10 },
    ),
  ),
})
export type TemplatePreviewBody = Static<typeof TemplatePreviewBody>

/** The message as the recipient would see it. */
export const TemplatePreview = Type.Object({
  text: Type.String(),
  subject: nullable(Type.String()),
  html: Type.Boolean(),
  header: nullable(
    Type.Object({
      type: oneOf(HEADER_TYPES),
      text: nullable(Type.String()),
      previewUrl: nullable(Type.String()),
    }),
  ),
  footer: nullable(Type.String()),
  buttons: Type.Array(
    Type.Object({
      type: oneOf(BUTTON_TYPES),
      text: Type.String(),
      value: nullable(Type.String({ description: 'The URL, phone number or code of the button' })),
    }),
  ),
  sms: nullable(
    Type.Object({
      encoding: oneOf(['GSM-7', 'UCS-2'] as const),
      characters: Type.Integer(),
      parts: Type.Integer(),
    }),
  ),
})
export type TemplatePreview = Static<typeof TemplatePreview>

/** `data` of a `template.*` event. */
export type TemplateEventData = {
  templateId: string
  name: string
  language: string | null
  category: TemplateCategory
  subType: TemplateSubType
  /** Set if the provider has changed the sub type; null for a new template. */
  previousSubType: TemplateSubType | null
  status: TemplateStatus
  previousStatus: TemplateStatus | null
  reason: string | null
  /** True if the change was found by polling the provider, not reported by it. */
  drift: boolean
}
