import type { Database } from '../../infra/db.ts'
import type { FileStore } from '../../infra/file-store.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { deleteHidden } from './media.ts'
import {
  abandonUploads,
  hideUnused,
  lockAsset,
  selectHidden,
  selectIdle,
  sweepUses,
  updateLastUse,
} from './store.ts'

/** No upload takes longer: a request has five minutes, a download one. */
const MAX_UPLOAD_MS = HOUR_MS
/** A message that uses a file is accepted long before this, or never. */
const ACCEPTED_AFTER_MS = HOUR_MS
const USES_PER_RUN = 20_000
/** Files per batch: each needs a call or two to the file store. */
const FILES_PER_BATCH = 50
/** Batches per run: enough for more than one file a second, and few enough not to delay a shutdown. */
const MAX_BATCHES = 20

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
    for (const ref of await selectIdle(db, clock.now() - keepMs, FILES_PER_BATCH)) {
      await db.transaction(async tx => (await lockAsset(tx, ref)) && (await hideUnused(tx, ref)))
    }
  }

  /** Deletes hidden assets. Files that cannot be deleted are tried again after all others, and keep none from being deleted. */
  async function deleteHiddenBatch(): Promise<number> {
    const hidden = await selectHidden(db, FILES_PER_BATCH)
    const ended = await Promise.allSettled(hidden.map(ref => deleteHidden({ db, files }, ref)))
    const failed = hidden.filter((_, at) => ended[at]!.status === 'rejected')
    await Promise.all(failed.map(ref => updateLastUse(db, ref, clock.now())))
    const failure = ended.find(each => each.status === 'rejected')
    if (failure) throw failure.reason
    return hidden.length
  }

  return async () => {
    const nowMs = clock.now()
    await sweepUses(db, nowMs - ACCEPTED_AFTER_MS, nowMs, USES_PER_RUN)
    await abandonUploads(db, nowMs - MAX_UPLOAD_MS)
    let deleted = 0
    for (let round = 0; round < MAX_BATCHES; round++) {
      await hideIdle()
      const batch = await deleteHiddenBatch()
      deleted += batch
      if (batch < FILES_PER_BATCH) break
    }
    return deleted
  }
}
