import type { Channel, KeyMode } from '../../contract/enums.ts'
import type { FraudRule } from '../../contract/fraud.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import type { PhoneType } from '../../lib/phone-type.ts'

/** One start or resend of a verification, as the guard sees it: routed and priced, not accepted yet. */
export type GuardedSend = {
  accountId: AccountId
  mode: KeyMode
  /** E.164 with plus, or an e-mail address. */
  recipient: string
  /** ISO 3166-1 alpha-2; null for an e-mail address. */
  country: string | null
  /** Null for an e-mail address. */
  phoneType: PhoneType | null
  /** The first channel, where it goes over several. */
  channel: Channel
  /** Only the sandbox carries it. */
  simulated: boolean
  /** The IP address of the end user who asked for the code, as the caller gave it. */
  clientIp: string | null
  /** Micros of the account's currency, all channels together. */
  amount: number
  currency: string
  /** In ms since the epoch. */
  nowMs: number
}

/** A rule that a send breaks. `reason` is shown in the list of blocks; the caller gets only `retryAfterMs`. */
export type Breach = { rule: FraudRule; reason: string; retryAfterMs: number }

/** A place in the limit of codes per recipient; taken in the transaction that stores the code. */
export type Turn = {
  /** The recipient, the same for all spellings of an address (scopes.ts). */
  person: string
  sends: number
  windowMinutes: number
  /** False in monitor mode: the limit only counts. */
  strict: boolean
}

/** A `pass` has the turn, if any, that must be taken in the transaction that stores the code. */
export type GuardVerdict = { verdict: 'pass'; turn: Turn | null } | ({ verdict: 'block' } & Breach)

/** A verification that was completed with the right code. */
export type GuardedCheck = {
  accountId: AccountId
  verificationId: Id<'ver'>
  mode: KeyMode
  /** As in the send. */
  recipient: string
  country: string | null
  nowMs: number
}

/**
 * Guards against SMS pumping: requests for codes to numbers whose owners are paid for the traffic. `judge` is
 * called after a send was routed and priced, and before it is accepted, so that a blocked send
 * costs nothing. The caller then calls one of `blocked`, `refuseLate`, `sent` and `dropped`, once.
 */
export type Guard = {
  judge(send: GuardedSend): GuardVerdict | Promise<GuardVerdict>
  /** It passed, but has no turn before `freeAtMs` (ms since the epoch): returns the breach. It is not counted. */
  refuseLate(send: GuardedSend, freeAtMs: number): Breach
  /** The caller is refused, and gets no replay. Resolves when the block is stored; never rejects. */
  blocked(send: GuardedSend, breach: Breach): Promise<void>
  /**
   * It was accepted; called once per start and resend, not for replays. `isMonitored`: over the limit per recipient,
   * which is in monitor mode. Must not throw.
   */
  sent(send: GuardedSend, isMonitored: boolean): void
  /** It passed, but was not sent (402, a replay, an error, no channel took it): takes its count back. Must not throw. */
  dropped(send: GuardedSend): void
  /** The right code was entered; called once per verification. Must not throw. */
  verified(check: GuardedCheck): void
}
