export type GuardedFetchReason =
  /** The URL, or an address that its name leads to, is not one that we may ask. */
  | 'blocked'
  | 'unresolvable'
  | 'timeout'
  | 'too_large'
  /** It leads elsewhere; redirects are not followed there. */
  | 'redirect'
  | 'network'
  | 'tls'

/** Why a guarded fetch failed. The text names no address: it may be shown to whoever gave the URL. */
export class GuardedFetchError extends Error {
  readonly reason: GuardedFetchReason
  /** Whether the same request may go better later. */
  readonly retryable: boolean
  /** Whether the far side may have received the request; false is a proof that it did not. */
  readonly sentBytes: boolean

  constructor(reason: GuardedFetchReason, text: string, facts: { retryable: boolean; sentBytes?: boolean }) {
    super(text)
    this.name = 'GuardedFetchError'
    this.reason = reason
    this.retryable = facts.retryable
    this.sentBytes = facts.sentBytes ?? false
  }
}
