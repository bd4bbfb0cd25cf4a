import type { FindSuppressedChannels } from '../core/consent/lookup.ts'
import { findSuppressed } from '../core/messages/suppression.ts'
import type { EndReason } from '../core/messages/withdraw-store.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import { findVoidCodes } from '../core/verification/void-store.ts'
import type { Foundation } from './foundation.ts'

/** Finds waiting messages that must not be sent any more: the recipient has opted out, or the code is void. */
export function createUnwanted(
  { db, clock }: Pick<Foundation, 'db' | 'clock'>,
  suppressedOn: FindSuppressedChannels,
) {
  return async <Item extends OutboxItem>(items: readonly Item[]): Promise<Map<Item, EndReason>> => {
    const codes = items.filter(item => item.messageType === 'otp')
    const [suppressed, voidCodes] = await Promise.all([
      findSuppressed(items, suppressedOn),
      findVoidCodes(db, clock.now(), codes),
    ])
    const unwanted = new Map<Item, EndReason>(voidCodes)
    for (const item of suppressed) unwanted.set(item, 'suppressed')
    return unwanted
  }
}
