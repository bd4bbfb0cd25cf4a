import type { Actor } from '../../contract/actor.ts'
import type { AccountId, Id } from '../../lib/ids.ts'

/** One change, as it is noted. */
export type AuditNote = {
  /** Null for what belongs to the platform. */
  accountId: AccountId | null
  actor: Actor
  action: string
  target: string | null
  /** Without secrets. */
  changes: Record<string, unknown>
  ip: string | null
  requestId: Id<'req'>
}
