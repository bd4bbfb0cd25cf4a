export type GuardedFetchReason =
  /** The URL, or an address of its name, is not allowed. */
  | 'blocked'
  | 'unresolvable'
  | 'timeout'
  | 'too_large'
  /** A redirect to another scheme, host or port, or one that may not be followed. */
  | 'redirect'
  | 'network'
  | 'tls'

/** Why a guarded fetch failed. The message contains no address: it may be shown to the user who gave the URL. */
export class GuardedFetchError extends Error {
  readonly reason: GuardedFetchReason
  /** Whether a retry may succeed. */
  readonly retryable: boolean
  /** Whether the server may have received the request; false proves that it did not. */
  readonly sentBytes: boolean

  constructor(reason: GuardedFetchReason, text: string, facts: { retryable: boolean; sentBytes?: boolean }) {
    super(text)
    this.name = 'GuardedFetchError'
    this.reason = reason
    this.retryable = facts.retryable
    this.sentBytes = facts.sentBytes ?? false
  }
}
