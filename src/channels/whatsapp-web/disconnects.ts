import type { Clock } from '../../lib/clock.ts'

/** Why a connection ended, and what follows: read from the library's DisconnectReason. */
export type Disconnect =
  /** Right after linking, and whenever the server moves us to another one: reconnect at once. */
  | { kind: 'restart'; detail: string }
  /** A fault of the network or of the servers: reconnect, with growing pauses. */
  | { kind: 'lost'; detail: string }
  /** Unlinked on the phone, or by the chat app. */
  | { kind: 'logged_out'; detail: string }
  /** Another try would not help. */
  | { kind: 'over'; detail: string }

const RESTART_REQUIRED = 515
const LOGGED_OUT = 401
const TIMED_OUT = 408
const REPLACED = 440
/** Codes about the account; every further try makes these worse. The library knows only the second. */
const BARRED_FOR_A_TIME = 402
const LOCKED = 403
const BARRED = 406
const NOT_MULTI_DEVICE = 411
const OUTDATED = 405

/** `linked`: the session was linked before. `showed`: it was showing a QR or pairing code. */
export function readDisconnect(
  code: number | undefined,
  detail: string,
  { linked, showed }: { linked: boolean; showed: boolean },
): Disconnect {
  switch (code) {
    case RESTART_REQUIRED:
      return { kind: 'restart', detail }
    case LOGGED_OUT:
      // A session that was never linked cannot be logged out: its code was refused, or has expired.
      return linked
        ? { kind: 'logged_out', detail: 'unlinked on the phone, or by WhatsApp' }
        : {
            kind: 'over',
            detail: 'WhatsApp did not let the device be linked; restart the session to try again',
          }
    case REPLACED:
      return { kind: 'over', detail: 'the same linked device was connected from elsewhere' }
    case BARRED_FOR_A_TIME:
      return {
        kind: 'over',
        detail: 'WhatsApp has barred this account temporarily; restart the session after that',
      }
    case LOCKED:
    case BARRED:
      return { kind: 'over', detail: 'WhatsApp has barred this account' }
    case NOT_MULTI_DEVICE:
      return { kind: 'over', detail: 'the phone must be updated before devices can be linked' }
    case OUTDATED:
      return {
        kind: 'over',
        detail: 'WhatsApp requires a newer version of the package baileys on the server',
      }
    case TIMED_OUT:
      return showed && !linked
        ? {
            kind: 'over',
            detail: 'the code was not scanned or typed in time; restart the session for a new one',
          }
        : { kind: 'lost', detail }
    default:
      return { kind: 'lost', detail }
  }
}

/** An outage is reported once it has lasted this long. */
const REPORT_AFTER_MS = 30_000
/** A connection that dropped sooner than this counts as failed. */
const STEADY_MS = 2_000
/** So many failed connections in a row are followed by a reconnect at once. */
const MAX_UNSTEADY = 3

/** Counts connections that failed in a row, and says when to report the outage. */
export type DisconnectCounter = ReturnType<typeof createDisconnectCounter>

export function createDisconnectCounter(clock: Pick<Clock, 'monotonic'>) {
  let failures = 0
  let unsteady = 0
  let sinceMs = clock.monotonic()
  let reported = false
  return {
    /** `openMs`: how long it was up before it dropped; null if never. `lasts` is true once per outage: when it is to be reported. */
    add(openMs: number | null): { failures: number; lasts: boolean } {
      if (openMs !== null || failures === 0) {
        sinceMs = clock.monotonic()
        reported = false
      }
      if (openMs !== null) {
        unsteady = openMs < STEADY_MS ? unsteady + 1 : 0
        if (unsteady <= MAX_UNSTEADY) failures = 0
      }
      failures++
      const lasts = !reported && clock.monotonic() - sinceMs >= REPORT_AFTER_MS
      reported ||= lasts
      return { failures, lasts }
    },
  }
}
