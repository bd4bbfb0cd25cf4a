import { type Static, Type } from 'typebox'
import { CHANNEL_ORDERS, CHANNELS, KEY_MODES, PERMISSIONS, VERIFICATION_CHANNELS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'
import { OfficialSender } from './official.ts'
import { withPattern } from './pattern.ts'
import { SmsSenderView } from './sender.ts'

export const ACCOUNT_STATUSES = ['active', 'suspended'] as const
export const PLAN_STATUSES = ['active', 'inactive'] as const

export const PhoneView = Type.Object({
  number: nullable(Type.String()),
  verified: Type.Boolean(),
})

export const PoolView = Type.Object({
  channels: Type.Array(Type.Enum(CHANNELS)),
  limit: Type.Integer({ description: 'Messages included per month' }),
  used: Type.Integer(),
  resetsAt: IsoTime,
})
export type PoolView = Static<typeof PoolView>

const TimeOfDay = (description: string) =>
  Type.String({
    ...withPattern('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'must be a time of day, such as 21:30'),
    description,
  })

/** The part of every day in which marketing messages wait, in the local time of the recipient's country. */
export const QuietHoursView = Type.Object({
  start: TimeOfDay('The start of the quiet hours, such as 21:00'),
  end: TimeOfDay('Their end, on the next day if it is earlier than `start`; must differ from it'),
})
export type QuietHoursView = Static<typeof QuietHoursView>

const CodeLength = Type.Integer({
  minimum: 4,
  maximum: 8,
  description: 'Number of digits of a code; default 6',
})
const Validity = Type.Integer({
  minimum: 1,
  maximum: 10,
  description: 'Minutes for which a code is valid; default 10',
})
const FanOut = Type.Array(Type.Enum(VERIFICATION_CHANNELS), {
  maxItems: VERIFICATION_CHANNELS.length,
  description:
    'Codes are sent over all of these channels that fit the recipient; if empty, over the one that ' +
    'routing chooses',
})

const OrderSetting = Type.Enum(CHANNEL_ORDERS, {
  description:
    'How routing orders several possible channels: by policy, or by the results of earlier codes; ' +
    'default policy',
})
const TrialPercent = Type.Integer({
  minimum: 0,
  maximum: 20,
  description:
    'Percentage of codes with a learned order that try a channel with little data first; default 5',
})

export const VerificationSettingsView = Type.Object({
  codeLength: CodeLength,
  validityMinutes: Validity,
  channels: FanOut,
  templateId: nullable(Type.String()),
  channelOrder: OrderSetting,
  trialPercent: TrialPercent,
})
export type VerificationSettingsView = Static<typeof VerificationSettingsView>

/** Absent fields stay unchanged; null resets all settings to the defaults. */
export const VerificationSettingsUpdate = Type.Object({
  codeLength: Type.Optional(CodeLength),
  validityMinutes: Type.Optional(Validity),
  channels: Type.Optional(FanOut),
  templateId: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'A template of subType otp with one placeholder, for SMS, e-mail or the official chat app',
      }),
    ),
  ),
  channelOrder: Type.Optional(OrderSetting),
  trialPercent: Type.Optional(TrialPercent),
})
export type VerificationSettingsUpdate = Static<typeof VerificationSettingsUpdate>

/** What an owner may change of the account. */
export const OwnAccountUpdate = Type.Object({
  verification: Type.Optional(nullable(VerificationSettingsUpdate)),
  quietHours: Type.Optional(
    Type.Union([QuietHoursView, Type.Null()], {
      description: 'Null removes them; absent leaves them unchanged.',
    }),
  ),
})
export type OwnAccountUpdate = Static<typeof OwnAccountUpdate>

/** The account and the key, as that key sees them. */
export const AccountView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(ACCOUNT_STATUSES),
  homeCountry: Type.String(),
  phone: PhoneView,
  currency: Type.String(),
  quietHours: nullable(QuietHoursView),
  verification: VerificationSettingsView,
  wallet: Type.Object({ balance: Type.Number(), held: Type.Number() }),
  plan: Type.Object({
    name: Type.String(),
    status: Type.Enum(PLAN_STATUSES),
    allowsScheduling: Type.Boolean(),
    pool: Type.Array(PoolView),
  }),
  key: Type.Object({
    id: Type.String(),
    name: Type.String(),
    prefix: Type.String(),
    mode: Type.Enum(KEY_MODES),
    permissions: Type.Array(Type.Enum(PERMISSIONS)),
  }),
  smsSenders: Type.Array(SmsSenderView),
  officialSenders: Type.Array(OfficialSender),
})
export type AccountView = Static<typeof AccountView>
