import { withToken } from '../channels/http/inbound.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Foundation } from './foundation.ts'

type Connection = { id: ConnectionId; provider: string }

/** Enough not to be guessed, and short, since some providers limit the address that it stands in. */
const TOKEN_BYTES = 16

/** Where a provider may call a connection; null where nobody can reach us. */
export function receiptUrlOf({ config }: Foundation, { id, provider }: Connection): string | null {
  return config.publicUrl ? `${config.publicUrl}/webhooks/${provider}/${id}` : null
}

/** The same on every node and after a restart. */
export function receiptTokenOf({ seal }: Foundation, { id }: Connection): string {
  return seal.hashSecret(`receipts:${id}`).toString('base64url', 0, TOKEN_BYTES)
}

/** The whole address, for providers that sign and for those that do not. */
export function webhookUrlOf(base: Foundation, connection: Connection): string | null {
  const url = receiptUrlOf(base, connection)
  return url === null ? null : withToken(url, receiptTokenOf(base, connection))
}
