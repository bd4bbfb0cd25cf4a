import { type Static, Type } from 'typebox'
import { CHANNELS, KEY_MODES, PERMISSIONS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'
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

/** What a key sees of its account, and of itself. */
export const AccountView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(ACCOUNT_STATUSES),
  homeCountry: Type.String(),
  phone: PhoneView,
  currency: Type.String(),
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
  officialSenders: Type.Array(Type.Unknown()),
})
export type AccountView = Static<typeof AccountView>
