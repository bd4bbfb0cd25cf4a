import { withToken } from '../channels/http/inbound.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Foundation } from './foundation.ts'

type Connection = { id: ConnectionId; provider: string }

/** Too long to be guessed, but short, since some providers limit the length of URLs. */
const TOKEN_BYTES = 16

/** The URL at which a provider calls a connection; null if this server has no public URL. */
export function receiptUrlOf({ config }: Foundation, { id, provider }: Connection): string | null {
  return config.publicUrl ? `${config.publicUrl}/webhooks/${provider}/${id}` : null
}

/** A token in the URL; the same on every node and after a restart. */
export function receiptTokenOf({ seal }: Foundation, { id }: Connection): string {
  return seal.hashSecret(`receipts:${id}`).toString('base64url', 0, TOKEN_BYTES)
}

/** The URL with its token, which works for all providers, whether they sign their calls or not. */
export function webhookUrlOf(base: Foundation, connection: Connection): string | null {
  const url = receiptUrlOf(base, connection)
  return url === null ? null : withToken(url, receiptTokenOf(base, connection))
}
