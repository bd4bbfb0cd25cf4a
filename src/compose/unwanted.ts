import type { SuppressedOn } from '../core/consent/lookup.ts'
import { findSuppressedAmong } from '../core/messages/suppressed.ts'
import type { Unwanted } from '../core/messages/withdraw-store.ts'
import type { ClaimedRow } from '../core/outbox/store.ts'
import { findVoidCodes } from '../core/verification/void-store.ts'
import type { Foundation } from './foundation.ts'

/** Which messages that waited must not leave any more: their recipients decided meanwhile, or their codes ran out. */
export function createUnwanted({ db, clock }: Pick<Foundation, 'db' | 'clock'>, suppressedOn: SuppressedOn) {
  return async (rows: readonly ClaimedRow[]): Promise<Map<ClaimedRow, Unwanted>> => {
    const codes = rows.filter(row => row.messageType === 'otp')
    const [suppressed, voidCodes] = await Promise.all([
      findSuppressedAmong(rows, suppressedOn),
      findVoidCodes(db, clock.now(), codes),
    ])
    const unwanted = new Map<ClaimedRow, Unwanted>(voidCodes)
    for (const row of suppressed) unwanted.set(row, 'suppressed')
    return unwanted
  }
}
