import { SANDBOX } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids, MessageId } from '../../lib/ids.ts'
import { createLru } from '../../lib/lru.ts'
import { createShortLivedMap } from '../../lib/short-lived-map.ts'
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
  /** Lets the next request on this node take the batch up at once: the one that claimed it then ended without an answer. */
  leave(accountId: AccountId, claim: KeyClaim, claimedAtMs: number): void
  /** Whether the sandbox took any message of a finished batch. */
  isSimulated(accountId: AccountId, existing: StoredKey): Promise<boolean>
}

/** The longest that a request takes from the claim to its response, in ms. */
const MAX_REQUEST_MS = 10_000
/** Unfinished batches of which a node remembers when it found them. */
const MAX_FOUND = 10_000

export function createBatches(deps: { db: Db; clock: Clock; ids: Ids }): Batches {
  const { db, clock, ids } = deps
  /** When each was left, in ms of the monotonic clock; only while another request would still have to wait. */
  const leftAtMs = createShortLivedMap<string, number>()

  /** When a request first found each unfinished, in ms of the monotonic clock. */
  const foundAtMs = createLru<string, number>(MAX_FOUND)

  function leave(accountId: AccountId, claim: KeyClaim, claimedAtMs: number): void {
    const nowMs = clock.monotonic()
    for (const [name, atMs] of leftAtMs.entries()) {
      if (atMs > nowMs - MAX_REQUEST_MS) break
      leftAtMs.delete(name)
    }
    leftAtMs.set(nameOf(accountId, claim, claimedAtMs), nowMs)
  }

  /** The age of a claim alone says too little: an earlier clock of the database lowers it. */
  function foundForLong(name: string): boolean {
    const nowMs = clock.monotonic()
    const atMs = foundAtMs.get(name)
    if (atMs === undefined) foundAtMs.set(name, nowMs)
    return atMs !== undefined && nowMs - atMs >= MAX_REQUEST_MS
  }

  return {
    leave,
    claim: (accountId, claim, messageIds) => claimBatchKey(db, accountId, claim, messageIds, clock.now()),
    async claimUnfinished(accountId, claim, existing) {
      const claimedAtMs = existing.batchClaimedAt!
      const name = nameOf(accountId, claim, claimedAtMs)
      const mayBeUnderWay =
        !leftAtMs.has(name) && existing.batchAgeMs! < MAX_REQUEST_MS && !foundForLong(name)
      if (mayBeUnderWay && (await someNodeStillRuns(db, claimedAtMs))) return null
      const confirmed = await confirmMessages(db, accountId, existing.batch!)
      const accepted = new Map([...confirmed].filter(([, { isWithdrawn }]) => !isWithdrawn))
      const idsLeft = existing.batch!.map(id => (confirmed.get(id)?.isWithdrawn ? ids.next('msg') : id))
      const takenUpAt = await claimUnfinishedBatch(db, accountId, claim, idsLeft, claimedAtMs)
      return takenUpAt === null ? null : { accepted, ids: idsLeft, takenUpAt }
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

/** A claim of a batch; each time that the batch is taken up makes another one. */
function nameOf(accountId: AccountId, { operation, key }: KeyClaim, claimedAtMs: number): string {
  return `${accountId} ${claimedAtMs} ${operation} ${key}`
}
