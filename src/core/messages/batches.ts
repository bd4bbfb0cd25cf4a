import { SANDBOX } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids, MessageId } from '../../lib/ids.ts'
import { anyWith, claimForBatch, finishBatch, stillLives, takeUpBatch } from './batch-store.ts'
import type { KeyClaim } from './hot-store.ts'
import type { StoredKey } from './idempotency-store.ts'
import { type Vouched, vouchFor } from './vouch-store.ts'

/** What became of a batch that was left unfinished, message by message. */
export type LeftBatch = {
  /** Accepted before, even if cancelled since: nothing is left to do for these, whatever would become of them now. */
  accepted: ReadonlyMap<MessageId, Vouched>
  /** The ids in the order of `to`; of those that were taken back, new ones. */
  ids: MessageId[]
}

/** The keys of batches: claimed before, answered after, and taken up again by whoever comes with the same key. */
export type Batches = {
  claim(accountId: AccountId, claim: KeyClaim, ids: readonly MessageId[]): Promise<StoredKey | null>
  /** The batch that a key stands for, to be finished here; null while another may still be at it. */
  takeUp(accountId: AccountId, claim: KeyClaim, existing: StoredKey): Promise<LeftBatch | null>
  finish(accountId: AccountId, claim: KeyClaim, answer: { status: number; body: string }): Promise<void>
  /** Whether the sandbox took any message of a finished one. */
  simulated(accountId: AccountId, existing: StoredKey): Promise<boolean>
}

/** A living request needs this long at most from the claim to the answer. */
const AT_WORK_MS = 10_000

export function createBatches(deps: { db: Db; clock: Clock; ids: Ids }): Batches {
  const { db, clock, ids } = deps

  return {
    claim: (accountId, claim, messageIds) => claimForBatch(db, accountId, claim, messageIds, clock.now()),
    async takeUp(accountId, claim, existing) {
      const seenAtMs = existing.batchAt!
      const young = existing.batchAgeMs! < AT_WORK_MS
      if (young && (await stillLives(db, seenAtMs))) return null
      const vouched = await vouchFor(db, accountId, existing.batch!)
      const left: LeftBatch = {
        accepted: new Map([...vouched].filter(([, { takenBack }]) => !takenBack)),
        ids: existing.batch!.map(id => (vouched.get(id)?.takenBack ? ids.next('msg') : id)),
      }
      return (await takeUpBatch(db, accountId, claim, left.ids, seenAtMs)) ? left : null
    },
    finish: (accountId, claim, answer) => finishBatch(db, accountId, claim, answer),
    simulated: async (accountId, { batch }) =>
      batch !== null && (await anyWith(db, accountId, batch, SANDBOX)),
  }
}
