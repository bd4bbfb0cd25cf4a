import type { ConnectionWebhook } from '../../contract/admin.ts'
import { Problem } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import { type ConnectionId, isId } from '../../lib/ids.ts'
import { selectConnection } from './store.ts'

/** Where a provider may call a connection: for the operator, who gives it to the provider. */
export type WebhookAddresses = { of(id: string): Promise<ConnectionWebhook> }

export type WebhookAddressesDeps = {
  db: Db
  /** As links are told it; null where nobody can reach us. */
  addressOf(connection: { id: ConnectionId; provider: string }): string | null
}

export function createWebhookAddresses({ db, addressOf }: WebhookAddressesDeps): WebhookAddresses {
  return {
    async of(id) {
      const row = isId('cnn', id) ? await selectConnection(db, id) : null
      if (!row) throw new Problem('NOT_FOUND', 'Connection not found')
      return { url: addressOf(row) }
    },
  }
}
