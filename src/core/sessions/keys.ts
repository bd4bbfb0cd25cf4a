import type { Database } from '../../infra/db.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { deleteKeys, type SealedKey, selectKeys, upsertKeys } from './key-store.ts'
import { lockClaim, type SessionClaim } from './store.ts'

/** The keys of one session, for the node that holds it. */
export type HeldKeys = {
  read(kind: string, ids: readonly string[]): Promise<Map<string, string>>
  /** Writes all changes or none; a null value deletes the key. False if this claim of the session is no longer valid. */
  write(changes: readonly { kind: string; id: string; value: string | null }[]): Promise<boolean>
}

export type HeldKeysDeps = {
  db: Database
  clock: Clock
  seal: Pick<Seal, 'seal' | 'open'>
  /** While true, operations are retried until the database is back. */
  mayRetry(): boolean
}

/**
 * The keys of a session. A node that lost its claim without noticing cannot write keys:
 * the claim is checked in the transaction that writes them, with a lock that
 * keeps other nodes from claiming the session until the commit.
 */
export function createHeldKeys({ db, clock, seal, mayRetry }: HeldKeysDeps, claim: SessionClaim): HeldKeys {
  const contextOf = (kind: string, keyId: string) => keyContext(claim.id, kind, keyId)

  return {
    async read(kind, ids) {
      if (ids.length === 0) return new Map()
      const rows = await retryWhileUnavailable(clock, mayRetry, () => selectKeys(db, claim, kind, ids))
      return new Map(
        rows.map(({ keyId, value }) => [keyId, seal.open(value, contextOf(kind, keyId)).toString()]),
      )
    },

    async write(changes) {
      const upserts: SealedKey[] = []
      const deletions: { kind: string; keyId: string }[] = []
      for (const { kind, id: keyId, value } of changes) {
        if (value === null) deletions.push({ kind, keyId })
        else upserts.push({ kind, keyId, value: seal.seal(value, contextOf(kind, keyId)) })
      }
      return retryWhileUnavailable(clock, mayRetry, () =>
        db.transaction(async tx => {
          if (!(await lockClaim(tx, claim))) return false
          await upsertKeys(tx, claim, upserts)
          await deleteKeys(tx, claim, deletions)
          return true
        }),
      )
    },
  }
}

/** The context that binds a sealed value to its key and session. */
export function keyContext(id: ConnectionId, kind: string, keyId: string): string {
  return `web-session:${id}:${kind}:${keyId}`
}
