import type { ConnectionWebhook } from '../../contract/admin.ts'
import { Problem } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import { type ConnectionId, isId } from '../../lib/ids.ts'
import { selectConnection } from './store.ts'

/** The URL of a connection's webhook, which the operator enters at the provider. */
export type WebhookAddresses = { of(id: string): Promise<ConnectionWebhook> }

export type WebhookAddressesDeps = {
  db: Db
  /** Null if this server has no public URL. */
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
