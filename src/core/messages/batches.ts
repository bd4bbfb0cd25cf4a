import { SANDBOX } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids, MessageId } from '../../lib/ids.ts'
import {
  claimBatchKey,
  claimUnfinishedBatch,
  finishBatch,
  someNodeStillRuns,
  usesProvider,
} from './batch-store.ts'
import { type ConfirmedMessage, confirmMessages } from './confirm-store.ts'
import type { KeyClaim } from './hot-store.ts'
import type { StoredKey } from './idempotency-store.ts'

/** The state of the messages of a batch that an earlier request left unfinished. */
export type UnfinishedBatch = {
  /** Messages that are accepted already, even if they were cancelled since: these are not accepted again. */
  accepted: ReadonlyMap<MessageId, ConfirmedMessage>
  /** The ids in the order of `to`; withdrawn messages have new ones. */
  ids: MessageId[]
  /** When it was taken up, in ms: distinguishes what is accepted from now on from what earlier requests tried to accept. */
  takenUpAt: number
}

/** The idempotency keys of batches: claimed first, answered at the end; a repeat finishes what was left unfinished. */
export type Batches = {
  /** Claims a new key: when, in ms, or the key that existed already. */
  claim(accountId: AccountId, claim: KeyClaim, ids: readonly MessageId[]): Promise<number | StoredKey>
  /** Claims the unfinished batch of a key; null while another request may still work on it. */
  claimUnfinished(accountId: AccountId, claim: KeyClaim, existing: StoredKey): Promise<UnfinishedBatch | null>
  /** The message that an earlier request has accepted meanwhile, with this id; null if it was withdrawn. */
  recall(accountId: AccountId, id: MessageId): Promise<ConfirmedMessage | null>
  /** Stores the answer of the request that claimed the batch then; false if another one has taken it up since. */
  finish(
    accountId: AccountId,
    claim: KeyClaim,
    claimedAtMs: number,
    answer: { status: number; body: string },
  ): Promise<boolean>
  /** Whether the sandbox took any message of a finished batch. */
  isSimulated(accountId: AccountId, existing: StoredKey): Promise<boolean>
}

/** The longest that a request takes from the claim to its response, in ms. */
const MAX_REQUEST_MS = 10_000

export function createBatches(deps: { db: Db; clock: Clock; ids: Ids }): Batches {
  const { db, clock, ids } = deps

  return {
    claim: (accountId, claim, messageIds) => claimBatchKey(db, accountId, claim, messageIds, clock.now()),
    async claimUnfinished(accountId, claim, existing) {
      const claimedAtMs = existing.batchClaimedAt!
      const young = existing.batchAgeMs! < MAX_REQUEST_MS
      if (young && (await someNodeStillRuns(db, claimedAtMs))) return null
      const confirmed = await confirmMessages(db, accountId, existing.batch!)
      const accepted = new Map([...confirmed].filter(([, { isWithdrawn }]) => !isWithdrawn))
      const left = existing.batch!.map(id => (confirmed.get(id)?.isWithdrawn ? ids.next('msg') : id))
      const takenUpAt = await claimUnfinishedBatch(db, accountId, claim, left, claimedAtMs)
      return takenUpAt === null ? null : { accepted, ids: left, takenUpAt }
    },
    async recall(accountId, id) {
      const found = (await confirmMessages(db, accountId, [id])).get(id)
      return found && !found.isWithdrawn ? found : null
    },
    finish: (accountId, claim, claimedAtMs, answer) => finishBatch(db, accountId, claim, claimedAtMs, answer),
    isSimulated: async (accountId, { batch }) =>
      batch !== null && (await usesProvider(db, accountId, batch, SANDBOX)),
  }
}
