import { timingSafeEqual } from 'node:crypto'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { type AssetId, fromUuid, toUuid } from '../../lib/ids.ts'
import type { AssetRef } from './store.ts'

/** URLs with a token, which show a file without an API key, as images in web pages need. */
export type Previews = {
  /** Valid for 24 to 25 hours. The URL is the same within an hour, so that browsers can cache the file. */
  urlOf(asset: AssetRef): string
  /** The asset of a token; null if the token is invalid, of another file, or expired. */
  read(id: AssetId, token: string): AssetRef | null
}

const VALID_HOURS = 24
// account (16 bytes) · expiry in hours since the epoch (4) · MAC (16)
const HOURS_AT = 16
const MAC_AT = 20
const MAC_BYTES = 16
const TOKEN = /^[\w-]{48}$/

export function createPreviews(options: {
  seal: Pick<Seal, 'hashSecret'>
  clock: Clock
  /** Prefix of the path; with '' the URLs have no host. */
  origin: string
}): Previews {
  const { seal, clock, origin } = options

  function macOf(id: AssetId, claims: Buffer): Buffer {
    return seal.hashSecret(`media:${id}:${claims.toString('hex')}`).subarray(0, MAC_BYTES)
  }

  return {
    urlOf({ id, accountId }) {
      const claims = Buffer.alloc(MAC_AT)
      claims.write(toUuid(accountId).replaceAll('-', ''), 'hex')
      claims.writeUInt32BE(Math.ceil(clock.now() / HOUR_MS) + VALID_HOURS, HOURS_AT)
      const token = Buffer.concat([claims, macOf(id, claims)]).toString('base64url')
      return `${origin}/media/${id}?token=${token}`
    },

    read(id, token) {
      if (!TOKEN.test(token)) return null
      const bytes = Buffer.from(token, 'base64url')
      const claims = bytes.subarray(0, MAC_AT)
      if (!timingSafeEqual(bytes.subarray(MAC_AT), macOf(id, claims))) return null
      if (claims.readUInt32BE(HOURS_AT) * HOUR_MS < clock.now()) return null
      return { id, accountId: fromUuid('acc', claims.toString('hex', 0, HOURS_AT)) }
    },
  }
}
