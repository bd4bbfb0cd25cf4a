import { type Static, Type } from 'typebox'
import {
  ACCOUNT_STATUSES,
  PhoneView,
  PLAN_STATUSES,
  PoolView,
  QuietHoursView,
  VerificationSettingsUpdate,
  VerificationSettingsView,
} from './account.ts'
import { ActorView } from './actor.ts'
import { CHANNELS, KEY_MODES, KEY_ROLES, MESSAGE_TYPES, PERMISSIONS, SEND_MODES } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'
import { Name } from './name.ts'
import { withPattern } from './pattern.ts'
import { SENDER_STATUSES } from './sender.ts'
import { WalletView } from './wallet.ts'

/** Schemas of the operator's API, `/api/admin`. */

const MaybeTime = nullable(IsoTime)
const MaybeText = nullable(Type.String())
const Rate = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const Amount = Type.Number({ description: 'In units of the currency, at most six decimals' })

// Accounts

export const PlanInput = Type.Object({
  name: Type.Optional(Name),
  status: Type.Optional(Type.Enum(PLAN_STATUSES)),
  allowsScheduling: Type.Optional(Type.Boolean()),
  pool: Type.Optional(
    Type.Array(
      Type.Object({
        channels: Type.Array(Type.Enum(CHANNELS), { minItems: 1, maxItems: CHANNELS.length }),
        limit: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
      }),
      { maxItems: 50 },
    ),
  ),
  bulkCeilingPerSecond: Type.Optional(Rate),
  rateLimitPerSecond: Type.Optional(Rate),
  verificationRateLimitPerSecond: Type.Optional(Rate),
})
export type PlanInput = Static<typeof PlanInput>

export const PhoneInput = Type.Object({
  number: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'E.164' })),
  verified: Type.Optional(Type.Boolean({ description: 'true needs a number' })),
})
export type PhoneInput = Static<typeof PhoneInput>

export const AccountCreate = Type.Object({
  name: Name,
  homeCountry: Type.String({ minLength: 2, maxLength: 2, description: 'ISO 3166-1 alpha-2' }),
  currency: Type.String({ minLength: 3, maxLength: 3, description: 'ISO 4217' }),
  phone: Type.Optional(PhoneInput),
  plan: Type.Optional(PlanInput),
  balance: Type.Optional(Amount),
  quietHours: Type.Optional(nullable(QuietHoursView)),
  verification: Type.Optional(nullable(VerificationSettingsUpdate)),
})
export type AccountCreate = Static<typeof AccountCreate>

export const AccountUpdate = Type.Object({
  name: Type.Optional(Name),
  status: Type.Optional(Type.Enum(ACCOUNT_STATUSES)),
  homeCountry: Type.Optional(Type.String({ minLength: 2, maxLength: 2 })),
  currency: Type.Optional(Type.String({ minLength: 3, maxLength: 3 })),
  phone: Type.Optional(PhoneInput),
  plan: Type.Optional(PlanInput),
  quietHours: Type.Optional(
    Type.Union([QuietHoursView, Type.Null()], {
      description: 'Null removes them; absent leaves them unchanged.',
    }),
  ),
  verification: Type.Optional(nullable(VerificationSettingsUpdate)),
})
export type AccountUpdate = Static<typeof AccountUpdate>

export const AdminAccount = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(ACCOUNT_STATUSES),
  homeCountry: Type.String(),
  currency: Type.String(),
  phone: PhoneView,
  quietHours: nullable(QuietHoursView),
  verification: VerificationSettingsView,
  plan: Type.Object({
    name: Type.String(),
    status: Type.Enum(PLAN_STATUSES),
    allowsScheduling: Type.Boolean(),
    pool: Type.Array(PoolView),
    bulkCeilingPerSecond: Type.Integer(),
    rateLimitPerSecond: Type.Integer(),
    verificationRateLimitPerSecond: Type.Integer(),
  }),
  wallet: WalletView,
  createdAt: IsoTime,
})
export type AdminAccount = Static<typeof AdminAccount>

// Keys

export const KeyCreate = Type.Object({
  name: Name,
  mode: Type.Enum(KEY_MODES),
  role: Type.Enum(KEY_ROLES),
  permissions: Type.Array(Type.Enum(PERMISSIONS), { maxItems: 50 }),
  expiresAt: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, in the future' })),
})
export type KeyCreate = Static<typeof KeyCreate>

export const AdminKey = Type.Object({
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String(),
  mode: Type.Enum(KEY_MODES),
  role: Type.Enum(KEY_ROLES),
  permissions: Type.Array(Type.Enum(PERMISSIONS)),
  createdAt: IsoTime,
  createdBy: nullable(ActorView),
  expiresAt: MaybeTime,
  revokedAt: MaybeTime,
  lastUsedAt: MaybeTime,
})
export type AdminKey = Static<typeof AdminKey>

export const AdminAccountWithKeys = Type.Object({
  ...AdminAccount.properties,
  keys: Type.Array(AdminKey),
})
export type AdminAccountWithKeys = Static<typeof AdminAccountWithKeys>

// Money

export const CreditCreate = Type.Object({
  amount: Amount,
  note: Type.Optional(Type.String({ maxLength: 500 })),
})
export type CreditCreate = Static<typeof CreditCreate>

export const PriceRow = Type.Object({
  channel: Type.Enum(CHANNELS),
  country: MaybeText,
  prefix: MaybeText,
  messageType: Type.Enum([...MESSAGE_TYPES, '*'] as const),
  price: Type.Number(),
  currency: Type.String(),
})
export type PriceRow = Static<typeof PriceRow>

export const PriceInput = Type.Object({
  channel: Type.Enum(CHANNELS),
  country: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2, description: 'ISO 3166-1 alpha-2, or `*` for any' }),
  ),
  prefix: Type.Optional(
    Type.String({
      ...withPattern('^\\+?[1-9][0-9]{0,14}$', 'must be the first digits of an E.164 number, such as +4915'),
      description: 'First digits of an E.164 number',
    }),
  ),
  messageType: Type.Optional(Type.Enum([...MESSAGE_TYPES, '*'] as const)),
  price: Amount,
  currency: Type.String({ minLength: 3, maxLength: 3 }),
})
export type PriceInput = Static<typeof PriceInput>

export const PricesReplace = Type.Object({ prices: Type.Array(PriceInput, { maxItems: 20_000 }) })

// Connections

const RetryPolicy = Type.Object({
  maxAttempts: Type.Integer({ minimum: 1, maximum: 20 }),
  backoffMs: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
})
/** Validated against the provider's own schema, once the provider is known. */
const Config = Type.Record(Type.String(), Type.Unknown())
const Priority = Type.Integer({ minimum: 0, maximum: 1_000_000 })
const AllowedTypes = Type.Array(Type.Enum(MESSAGE_TYPES), {
  minItems: 1,
  maxItems: MESSAGE_TYPES.length,
  description: 'Only types that the provider supports',
})
const Mode = Type.Enum(SEND_MODES)
const SendModes = Type.Partial(Type.Object({ otp: Mode, utility: Mode, marketing: Mode, free_text: Mode }))
const ConnectionChannels = Type.Array(Type.Enum(CHANNELS), { minItems: 1, maxItems: CHANNELS.length })

export const ConnectionCreate = Type.Object({
  provider: Type.String({ minLength: 1, maxLength: 100 }),
  name: Name,
  channels: ConnectionChannels,
  config: Type.Optional(Config),
  accountId: Type.Optional(
    Type.String({ maxLength: 40, description: 'Absent for a connection of every account' }),
  ),
  priorityOrder: Type.Optional(Priority),
  retryPolicy: Type.Optional(Type.Partial(RetryPolicy)),
  allowedTypes: Type.Optional(AllowedTypes),
  sendModeByType: Type.Optional(SendModes),
  enabled: Type.Optional(Type.Boolean()),
})
export type ConnectionCreate = Static<typeof ConnectionCreate>

export const ConnectionUpdate = Type.Object({
  name: Type.Optional(Name),
  channels: Type.Optional(ConnectionChannels),
  config: Type.Optional(Config),
  priorityOrder: Type.Optional(Priority),
  retryPolicy: Type.Optional(Type.Partial(RetryPolicy)),
  allowedTypes: Type.Optional(AllowedTypes),
  sendModeByType: Type.Optional(SendModes),
  enabled: Type.Optional(Type.Boolean()),
})
export type ConnectionUpdate = Static<typeof ConnectionUpdate>

/** The state on the node that answers; each node has its own links. */
export const ConnectionState = Type.Object({
  link: Type.Enum(['closed', 'connecting', 'up', 'down'] as const),
  detail: Type.String(),
  circuit: Type.Enum(['closed', 'open', 'half_open'] as const, {
    description:
      'Open: tried after all other connections. Half open: one message tests whether it works again',
  }),
})
export type ConnectionState = Static<typeof ConnectionState>

export const ConnectionView = Type.Object({
  id: Type.String(),
  accountId: MaybeText,
  provider: Type.String(),
  name: Type.String(),
  channels: Type.Array(Type.Enum(CHANNELS)),
  config: Config,
  secretsSet: Type.Array(
    Type.String({ description: 'The secret fields that have a value; the values are never returned' }),
  ),
  enabled: Type.Boolean(),
  priorityOrder: Type.Integer(),
  retryPolicy: RetryPolicy,
  allowedTypes: Type.Array(Type.Enum(MESSAGE_TYPES)),
  sendModeByType: SendModes,
  state: ConnectionState,
  createdAt: IsoTime,
})
export type ConnectionView = Static<typeof ConnectionView>

export const ConnectionRemoved = Type.Object({
  id: Type.String(),
  accountId: nullable(Type.String({ description: 'Null for a connection of every account' })),
  deleted: Type.Literal(true),
})
export type ConnectionRemoved = Static<typeof ConnectionRemoved>

export const ConnectionWebhook = Type.Object({
  url: nullable(Type.String({ description: 'Null if no public URL is configured' })),
})
export type ConnectionWebhook = Static<typeof ConnectionWebhook>

export const ConnectionTest = Type.Object({ ok: Type.Boolean(), detail: Type.String() })
export type ConnectionTest = Static<typeof ConnectionTest>

// SMS senders

export const SenderCreate = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 15 }),
  isDefault: Type.Optional(Type.Boolean()),
})
export type SenderCreate = Static<typeof SenderCreate>

export const SenderReject = Type.Object({ reason: Type.String({ minLength: 1, maxLength: 500 }) })

export const AdminSender = Type.Object({
  id: Type.String(),
  accountId: MaybeText,
  name: Type.String(),
  status: Type.Enum(SENDER_STATUSES),
  isDefault: Type.Boolean(),
  webhookConfigured: Type.Boolean(),
  reason: MaybeText,
  createdAt: IsoTime,
})
export type AdminSender = Static<typeof AdminSender>
