import { SANDBOX } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids, MessageId } from '../../lib/ids.ts'
import { anyWith, claimForBatch, finishBatch, stillLives, takeUpBatch } from './batch-store.ts'
import type { KeyClaim } from './hot-store.ts'
import type { StoredKey } from './idempotency-store.ts'
import { type Vouched, vouchFor } from './vouch-store.ts'

/** The state of the messages of a batch that an earlier request left unfinished. */
export type LeftBatch = {
  /** Messages that are accepted already, even if they were cancelled since: these are not accepted again. */
  accepted: ReadonlyMap<MessageId, Vouched>
  /** The ids in the order of `to`; withdrawn messages have new ones. */
  ids: MessageId[]
}

/** The idempotency keys of batches: claimed first, answered at the end; a repeat finishes what was left unfinished. */
export type Batches = {
  claim(accountId: AccountId, claim: KeyClaim, ids: readonly MessageId[]): Promise<StoredKey | null>
  /** Claims the unfinished batch of a key; null while another request may still work on it. */
  takeUp(accountId: AccountId, claim: KeyClaim, existing: StoredKey): Promise<LeftBatch | null>
  finish(accountId: AccountId, claim: KeyClaim, answer: { status: number; body: string }): Promise<void>
  /** Whether the sandbox took any message of a finished batch. */
  simulated(accountId: AccountId, existing: StoredKey): Promise<boolean>
}

/** The longest that a request takes from the claim to its response, in ms. */
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
