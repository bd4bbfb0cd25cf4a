import type { Database } from '../../infra/db.ts'
import type { FileStore } from '../../infra/file-store.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { bury } from './media.ts'
import { giveUpStoring, lockAsset, markLeaving, selectIdle, selectLeaving, sweepUses } from './store.ts'

/** No upload takes longer: a request has five minutes, a fetch one. */
const LONGEST_UPLOAD_MS = HOUR_MS
/** A message is accepted long before, or never. */
const ACCEPTED_AFTER_MS = HOUR_MS
const MANY_USES = 20_000
/** Files at a time: each costs the file store a call or two. */
const SOME_FILES = 50
/** Of those, one after the other: more than one file a second, and over before a stop grows impatient. */
const MOST_ROUNDS = 20

export type MediaSweepDeps = {
  db: Database
  clock: Clock
  files: FileStore
  /** How long an asset stays that nobody needs, in ms. */
  keepMs: number
}

/**
 * Takes away what nobody needs any more, and what crashes left. Each step hides
 * first and removes then, and repeats what another node may be doing without
 * harm.
 * @returns how many assets went.
 */
export function createMediaSweep({ db, clock, files, keepMs }: MediaSweepDeps): () => Promise<number> {
  async function hideIdle(): Promise<void> {
    for (const ref of await selectIdle(db, clock.now() - keepMs, SOME_FILES)) {
      await db.transaction(async tx => (await lockAsset(tx, ref)) && (await markLeaving(tx, ref)))
    }
  }

  /** One file that cannot be removed keeps nothing else from going. */
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
