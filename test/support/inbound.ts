import type { Inbound, Receipt } from '../../src/channels/provider.ts'

/** The receipts among a provider's inbound items. */
export function receiptsOf(inbound: readonly Inbound[]): Receipt[] {
  return inbound.filter(each => each.kind === 'receipt')
}
