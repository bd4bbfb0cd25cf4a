import type { AccountId, Id } from '../lib/ids.ts'
import type { QuietHours } from '../lib/quiet-hours.ts'
import type {
  Channel,
  ChannelOrderSetting,
  KeyMode,
  KeyRole,
  Permission,
  VerificationChannel,
} from './enums.ts'

/** What every request needs to know of the account; cached, so a few seconds old at most. */
export type AccountSnapshot = {
  id: AccountId
  name: string
  status: 'active' | 'suspended'
  /** ISO 3166-1 alpha-2. */
  homeCountry: string
  /** ISO 4217. */
  currency: string
  phone: { number: string | null; verified: boolean }
  /** When marketing waits, by the clocks of its recipient; null for never. */
  quietHours: QuietHours | null
  verification: VerificationSettings
  plan: PlanSnapshot
  /** Grows with every change of the account, its plan or its keys. */
  revision: number
}

/** How an account wants its verifications. */
export type VerificationSettings = {
  /** Digits. */
  codeLength: number
  validityMinutes: number
  /** All of these at once, as far as they fit the recipient; none: the one that routing chooses. */
  channels: readonly VerificationChannel[]
  /** Of the words, on the channels that it is for; null for the account's default. */
  templateId: string | null
  /** Where routing chooses: the order of policies, or that of how codes fare. */
  channelOrder: ChannelOrderSetting
  /** Of codes whose order is learned: how many of a hundred go first over a channel that is hardly known. */
  trialPercent: number
}

export type PlanSnapshot = {
  name: string
  status: 'active' | 'inactive'
  allowsScheduling: boolean
  bulkCeilingPerSecond: number
  /** Requests a second of the group `api`; the burst is twice the rate. */
  rateLimitPerSecond: number
  /** The same for `verification_send`. */
  verificationRateLimitPerSecond: number
  pools: readonly PlanPool[]
}

/** Messages of a month that the plan includes; `limit` is their number. */
export type PlanPool = { id: number; channels: readonly Channel[]; limit: number }

/** Whoever sent a request: one key, and the account that it belongs to; or a person who acts for it in the console. */
export type Caller = {
  /** The person's own id where it is a person. */
  keyId: Id<'key'> | Id<'usr'>
  keyName: string
  /** The first letters of the key, for people to tell keys apart; empty for a person. */
  keyPrefix: string
  /** In ms since the epoch; null where the key has no end, and for a person. */
  keyExpiresAtMs: number | null
  mode: KeyMode
  role: KeyRole
  permissions: ReadonlySet<Permission>
  account: AccountSnapshot
}

/** Whoever is signed in to the console. */
export type SignedIn = {
  sessionId: Id<'ses'>
  userId: Id<'usr'>
  email: string
  name: string
  operator: boolean
  /** What a request that is no GET has to bring. */
  csrfToken: string
  /** For whom they act, and how. */
  memberships: ReadonlyMap<AccountId, { role: KeyRole; permissions: ReadonlySet<Permission> }>
}
