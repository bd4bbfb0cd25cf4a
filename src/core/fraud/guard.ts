import type { Channel, KeyMode } from '../../contract/enums.ts'
import type { FraudRule } from '../../contract/fraud.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import type { PhoneType } from '../../lib/phone.ts'

/** One start or resend of a verification, as the guard sees it: routed and priced, not accepted yet. */
export type GuardedSend = {
  accountId: AccountId
  mode: KeyMode
  /** `+` and digits, or an e-mail address. */
  recipient: string
  /** Of a phone number; ISO 3166-1 alpha-2. */
  country: string | null
  /** Of a phone number. */
  phoneType: PhoneType | null
  /** The first of the channels that it goes over. */
  channel: Channel
  /** As the caller gave it, for the end user whose browser or app asked for the code. */
  clientIp: string | null
  /** Micros of the account's currency, over all its channels. */
  amount: number
  currency: string
  resend: boolean
  /** In ms since the epoch. */
  nowMs: number
}

/** A rule that a send breaks: `reason` is for the list of blocks; the caller is told when to come back. */
export type Breach = { rule: FraudRule; reason: string; retryAfterMs: number }

/** What a code asks for among those of its recipient; taken in the transaction that stores the code. */
export type Turn = {
  /** The recipient, however spelled (scopes.ts). */
  person: string
  sends: number
  windowMinutes: number
  /** Whether the limit refuses; else it is only counted. */
  strict: boolean
}

/** With the turn that it still has to take, if any: who stores the code sees to that. */
export type GuardVerdict = { verdict: 'pass'; turn: Turn | null } | ({ verdict: 'block' } & Breach)

/** A right code, and whose verification it ends. */
export type GuardedCheck = {
  accountId: AccountId
  verificationId: Id<'ver'>
  mode: KeyMode
  /** As the send named it. */
  recipient: string
  country: string | null
  nowMs: number
}

/**
 * Keeps codes from being pumped to numbers whose owners earn by them. It is asked
 * after a send was routed and priced and before it is accepted, so that a block
 * costs nothing; then it is told what became of it: `blocked`, `sent` or `dropped`, once.
 */
export type Guard = {
  judge(send: GuardedSend): GuardVerdict | Promise<GuardVerdict>
  /** It passed, and there is no turn for it until then, in ms since the epoch: what that breaks. It does not count. */
  late(send: GuardedSend, freeAtMs: number): Breach
  /** Its caller is refused, and not given an earlier answer: it is listed when this resolves. Never rejects. */
  blocked(send: GuardedSend, breach: Breach): Promise<void>
  /**
   * It is on its way; once per start and resend, replays excluded. `watched`: beyond the turns that there
   * should be. Must not throw.
   */
  sent(send: GuardedSend, watched: boolean): void
  /** It passed, and came to nothing (402, a replay, a fault, no channel took it): it does not count. Must not throw. */
  dropped(send: GuardedSend): void
  /** A right code came back; once per verification. Must not throw. */
  verified(check: GuardedCheck): void
}
