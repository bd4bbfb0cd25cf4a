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

/** What every request needs of the account; cached, so at most a few seconds old. */
export type AccountSnapshot = {
  id: AccountId
  name: string
  status: 'active' | 'suspended'
  /** ISO 3166-1 alpha-2. */
  homeCountry: string
  /** ISO 4217. */
  currency: string
  phone: { number: string | null; verified: boolean }
  /** When marketing messages wait, in the recipient's local time; null for never. */
  quietHours: QuietHours | null
  verification: VerificationSettings
  plan: PlanSnapshot
  /** Grows with every change of the account, its plan or its keys. */
  revision: number
}

/** An account's settings for verifications. */
export type VerificationSettings = {
  /** Length in digits. */
  codeLength: number
  validityMinutes: number
  /** Codes go over all of these channels that suit the recipient; if empty, routing chooses one. */
  channels: readonly VerificationChannel[]
  /** The template of the text, on channels that it is for; null for the account's default. */
  templateId: string | null
  /** How routing orders the channels: by policy, or by the success of earlier codes. */
  channelOrder: ChannelOrderSetting
  /** With a learned order, the percentage of codes that try a channel with little data first. */
  trialPercent: number
}

export type PlanSnapshot = {
  name: string
  status: 'active' | 'inactive'
  allowsScheduling: boolean
  bulkCeilingPerSecond: number
  /** Requests per second to the group `api`; the burst is twice that. */
  rateLimitPerSecond: number
  /** Requests per second to the group `verification_send`. */
  verificationRateLimitPerSecond: number
  pools: readonly PlanPool[]
}

/** Messages per month that the plan includes; `limit` is their number. */
export type PlanPool = { id: number; channels: readonly Channel[]; limit: number }

/** The caller of a request: a key and its account, or a person who acts for the account in the console. */
export type Caller = {
  /** For a person, the user id. */
  keyId: Id<'key'> | Id<'usr'>
  keyName: string
  /** The first letters of the key, to tell keys apart; empty for a person. */
  keyPrefix: string
  /** In ms since the epoch; null for a key that does not expire, and for a person. */
  keyExpiresAtMs: number | null
  mode: KeyMode
  role: KeyRole
  permissions: ReadonlySet<Permission>
  account: AccountSnapshot
}

/** A person who is signed in to the console. */
export type SignedIn = {
  sessionId: Id<'ses'>
  userId: Id<'usr'>
  email: string
  name: string
  operator: boolean
  /** The CSRF token that every request except GET must carry. */
  csrfToken: string
  /** The accounts that the person may act for, with role and permissions. */
  memberships: ReadonlyMap<AccountId, { role: KeyRole; permissions: ReadonlySet<Permission> }>
}
