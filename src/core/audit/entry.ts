import type { Actor } from '../../contract/actor.ts'
import type { AccountId, Id } from '../../lib/ids.ts'

/** A change, to be stored in the audit log. */
export type NewAuditEntry = {
  /** Null for a change of something that belongs to the platform. */
  accountId: AccountId | null
  actor: Actor
  action: string
  target: string | null
  /** Without secrets. */
  changes: Record<string, unknown>
  ip: string | null
  requestId: Id<'req'>
}
