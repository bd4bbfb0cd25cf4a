import type { Database } from '../../infra/db.ts'
import type { FileStore } from '../../infra/file-store.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { bury } from './media.ts'
import { giveUpStoring, lockAsset, markLeaving, selectIdle, selectLeaving, sweepUses } from './store.ts'

/** No upload takes longer: a request has five minutes, a download one. */
const LONGEST_UPLOAD_MS = HOUR_MS
/** A message that uses a file is accepted long before this, or never. */
const ACCEPTED_AFTER_MS = HOUR_MS
const MANY_USES = 20_000
/** Files per batch: each needs a call or two to the file store. */
const SOME_FILES = 50
/** Batches per run: enough for more than one file a second, and few enough not to delay a shutdown. */
const MOST_ROUNDS = 20

export type MediaSweepDeps = {
  db: Database
  clock: Clock
  files: FileStore
  /** How long an unused asset is kept, in ms. */
  keepMs: number
}

/**
 * Deletes unused assets, and what crashes left. An asset is hidden first and
 * deleted then; all steps are idempotent, so nodes may do the same concurrently.
 * @returns how many assets were deleted.
 */
export function createMediaSweep({ db, clock, files, keepMs }: MediaSweepDeps): () => Promise<number> {
  async function hideIdle(): Promise<void> {
    for (const ref of await selectIdle(db, clock.now() - keepMs, SOME_FILES)) {
      await db.transaction(async tx => (await lockAsset(tx, ref)) && (await markLeaving(tx, ref)))
    }
  }

  /** Deletes hidden assets. A file that cannot be deleted does not keep the others from being deleted. */
  async function buryLeaving(): Promise<number> {
    const leaving = await selectLeaving(db, SOME_FILES)
    const ended = await Promise.allSettled(leaving.map(ref => bury({ db, files }, ref)))
    const failed = ended.find(each => each.status === 'rejected')
    if (failed) throw failed.reason
    return leaving.length
  }

  return async () => {
    const nowMs = clock.now()
    await sweepUses(db, nowMs - ACCEPTED_AFTER_MS, nowMs, MANY_USES)
    await giveUpStoring(db, nowMs - LONGEST_UPLOAD_MS)
    let gone = 0
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await hideIdle()
      const some = await buryLeaving()
      gone += some
      if (some < SOME_FILES) break
    }
    return gone
  }
}
