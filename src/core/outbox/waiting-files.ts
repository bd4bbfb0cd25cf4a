import { Problem } from '../../contract/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import { createLru } from '../../lib/lru.ts'

/** Room for the files that came in requests, as base64, and wait in the database for the time of their message. */
export type WaitingFiles = {
  /** Takes room for a file of so many bytes. Throws CONFLICT beyond the account's limit. */
  reserve(accountId: AccountId, bytes: number): Promise<void>
  /** Throws as `reserve` would now; takes no room. */
  check(accountId: AccountId, bytes: number): Promise<void>
}

export type WaitingFilesDeps = {
  clock: Pick<Clock, 'monotonic'>
  /** The most bytes that wait for one account. */
  accountBytes: number
  /** The bytes that wait for an account, each file counted with at least `MIN_COUNTED_BYTES`. */
  measure(accountId: AccountId): Promise<number>
}

/** A file takes a row too; and a measurement, which reads one row for each, stays short. */
export const MIN_COUNTED_BYTES = 65_536
/**
 * How long a measurement counts, in ms: with one for each send, many small files that wait would occupy the database.
 * What other nodes store meanwhile is not counted, so that the limit may be exceeded by that.
 */
const MEASURE_EVERY_MS = 10_000
const MAX_ACCOUNTS = 10_000

/** `reserved`: since the measurement, by this node. */
type Measurement = { atMs: number; measured: Promise<number>; reserved: number }

export function createWaitingFiles({ clock, accountBytes, measure }: WaitingFilesDeps): WaitingFiles {
  const measurements = createLru<AccountId, Measurement>(MAX_ACCOUNTS)

  function latest(accountId: AccountId): Measurement {
    const nowMs = clock.monotonic()
    const known = measurements.get(accountId)
    if (known && nowMs - known.atMs < MEASURE_EVERY_MS) return known
    const made: Measurement = { atMs: nowMs, measured: measure(accountId), reserved: 0 }
    measurements.set(accountId, made)
    made.measured.catch(() => {
      if (measurements.get(accountId) === made) measurements.delete(accountId)
    })
    return made
  }

  function requireRoom({ reserved }: Measurement, measuredBytes: number, counted: number): void {
    if (measuredBytes + reserved + counted <= accountBytes) return
    const megabytes = Math.floor(accountBytes / 1_048_576)
    throw new Problem(
      'CONFLICT',
      `At most ${megabytes} MB of base64 files wait in an account's scheduled messages: upload the file, and give its assetId.`,
    )
  }

  return {
    async check(accountId, bytes) {
      const measurement = latest(accountId)
      requireRoom(measurement, await measurement.measured, countedBytes(bytes))
    },
    async reserve(accountId, bytes) {
      const measurement = latest(accountId)
      const counted = countedBytes(bytes)
      // Nothing is awaited between the check and the reservation: others wait for the same measurement.
      requireRoom(measurement, await measurement.measured, counted)
      measurement.reserved += counted
    },
  }
}

function countedBytes(bytes: number): number {
  return Math.max(bytes, MIN_COUNTED_BYTES)
}
