import type { Inbound, Receipt } from '../../src/channels/provider.ts'

/** The receipts among what a provider told. */
export function receiptsOf(inbound: readonly Inbound[]): Receipt[] {
  return inbound.filter(each => each.kind === 'receipt')
}
