import type { Inbound } from '../../channels/provider.ts'
import type { ConnectionId, Ids } from '../../lib/ids.ts'
import type { Settle } from './settle.ts'

/** Takes what providers report about messages that they took. */
export type Receipts = {
  /** Resolves once all of it is stored: only then may the provider forget it. */
  take(connectionId: ConnectionId, inbound: readonly Inbound[]): Promise<void>
}

export function createReceipts(deps: {
  settle: Settle
  ids: Ids
  observe(status: string, fate: 'applied' | 'no change'): void
}): Receipts {
  return {
    async take(connectionId, inbound) {
      const moved = await Promise.all(
        inbound.map(receipt =>
          deps.settle.receipt({
            connectionId,
            providerId: receipt.providerId,
            status: receipt.status,
            atMs: receipt.atMs,
            providerCode: receipt.providerCode,
            detail: receipt.detail,
            eventId: deps.ids.next('evt'),
          }),
        ),
      )
      inbound.forEach((receipt, at) => {
        deps.observe(receipt.status, moved[at] ? 'applied' : 'no change')
      })
    },
  }
}
