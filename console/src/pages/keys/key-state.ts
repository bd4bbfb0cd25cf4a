import type { ApiKey } from '../../../../sdk/index.ts'
import { nowMs } from '../../api/server-clock.ts'

/** The key's state, now. */
export function stateOf(key: ApiKey): 'active' | 'revoked' | 'expired' {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && new Date(key.expiresAt).getTime() <= nowMs() ? 'expired' : 'active'
}
