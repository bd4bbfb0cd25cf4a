import { type Static, Type } from 'typebox'
import {
  BUTTON_TYPES,
  HEADER_TYPES,
  OTP_TYPES,
  TEMPLATE_CATEGORIES,
  TEMPLATE_PROVIDERS,
  TEMPLATE_SUB_TYPES,
} from './template.ts'

/** The limit of an e-mail; other kinds of templates have their own, lower limits. */
const CONTENT_MAX = 500_000
const Short = Type.String({ minLength: 1, maxLength: 200 })

export const TemplateButtonInput = Type.Object({
  type: Type.Enum(BUTTON_TYPES),
  text: Type.String({ minLength: 1, maxLength: 25 }),
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'May end in {{1}}, whose value each send then gives',
    }),
  ),
  urlExample: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
  phoneNumber: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'E.164' })),
  example: Type.Optional(Type.String({ minLength: 1, maxLength: 15, description: 'For a copy_code button' })),
})
export type TemplateButtonInput = Static<typeof TemplateButtonInput>

const FIELDS = {
  name: Type.String({ minLength: 1, maxLength: 512, description: 'Lowercase letters and underscores' }),
  category: Type.Enum(TEMPLATE_CATEGORIES),
  subType: Type.Enum(TEMPLATE_SUB_TYPES),
  language: Type.Optional(
    Type.String({ minLength: 2, maxLength: 20, description: 'For example en or en_US' }),
  ),
  body: Type.Optional(Type.String({ maxLength: CONTENT_MAX, description: 'For chat-app templates' })),
  content: Type.Optional(
    Type.String({ maxLength: CONTENT_MAX, description: 'For SMS, message and e-mail templates' }),
  ),
  emailSubject: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  headerType: Type.Optional(Type.Enum(HEADER_TYPES)),
  headerValue: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  headerAssetId: Type.Optional(Short),
  headerMediaUrl: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'Fetched once and stored; an alternative to headerAssetId',
    }),
  ),
  footer: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  buttons: Type.Optional(Type.Array(TemplateButtonInput, { maxItems: 10 })),
  bodyParameters: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 1, maximum: 100 }),
        label: Type.String({ minLength: 1, maxLength: 1_024 }),
      }),
      { maxItems: 100, description: 'An example value for each placeholder' },
    ),
  ),
  otpType: Type.Optional(Type.Enum(OTP_TYPES)),
  addSecurityRecommendation: Type.Optional(Type.Boolean()),
  codeExpirationMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 })),
  otpButtonText: Type.Optional(Type.String({ minLength: 1, maxLength: 25 })),
  packageName: Type.Optional(Short),
  signatureHash: Type.Optional(Short),
  zeroTapTermsAccepted: Type.Optional(Type.Boolean()),
  provider: Type.Optional(Type.Enum(TEMPLATE_PROVIDERS)),
  templateTarget: Type.Optional(Type.Enum(['user_session'] as const)),
  officialSenderId: Type.Optional(Short),
  creationMode: Type.Optional(Type.Enum(['manual_external_id'] as const)),
  providerTemplateId: Type.Optional(Short),
  manualVariableCount: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
}

/** The body of `POST /api/v2/templates`. */
export const TemplateCreate = Type.Object(FIELDS)
export type TemplateCreate = Static<typeof TemplateCreate>

/** The body of `POST /api/admin/templates`: a template for every account. */
export const PlatformTemplateCreate = Type.Object({
  ...FIELDS,
  isDefault: Type.Optional(
    Type.Boolean({ description: 'Used by accounts that have no default for this category and subType' }),
  ),
})
export type PlatformTemplateCreate = Static<typeof PlatformTemplateCreate>
