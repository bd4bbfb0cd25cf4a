import { type Static, Type } from 'typebox'
import { CHANNELS, KEY_MODES, PERMISSIONS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'
import { OfficialSender } from './official.ts'
import { SmsSenderView } from './sender.ts'

export const ACCOUNT_STATUSES = ['active', 'suspended'] as const
export const PLAN_STATUSES = ['active', 'inactive'] as const

export const PhoneView = Type.Object({
  number: nullable(Type.String()),
  verified: Type.Boolean(),
})

export const PoolView = Type.Object({
  channels: Type.Array(Type.Enum(CHANNELS)),
  limit: Type.Integer({ description: 'Messages included each month' }),
  used: Type.Integer(),
  resetsAt: IsoTime,
})
export type PoolView = Static<typeof PoolView>

const TimeOfDay = (description: string) =>
  Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description })

/** The part of every day in which marketing waits, by the clocks of the recipient's country. */
export const QuietHoursView = Type.Object({
  start: TimeOfDay('From this time of day on, such as 21:00'),
  end: TimeOfDay('Until this one, on the next day where it is the earlier one; never the same'),
})
export type QuietHoursView = Static<typeof QuietHoursView>

/** What an owner may change of the account. */
export const OwnAccountUpdate = Type.Object({
  quietHours: Type.Optional(
    Type.Union([QuietHoursView, Type.Null()], { description: 'Null ends them; absent, they stay.' }),
  ),
})
export type OwnAccountUpdate = Static<typeof OwnAccountUpdate>

/** What a key sees of its account, and of itself. */
export const AccountView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(ACCOUNT_STATUSES),
  homeCountry: Type.String(),
  phone: PhoneView,
  currency: Type.String(),
  quietHours: nullable(QuietHoursView),
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
