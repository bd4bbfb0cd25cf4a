import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { createMedia } from '../core/media/media.ts'
import { createPreviews } from '../core/media/preview.ts'
import { createMediaSweep } from '../core/media/sweep.ts'
import { createFileStore, type FileStore } from '../infra/file-store.ts'
import { withGarbageCollection } from '../infra/gc-store.ts'
import { createObjectStore } from '../infra/object-store.ts'
import { MINUTE_MS } from '../lib/durations.ts'
import type { Chore } from '../workers/chores.ts'
import type { Foundation } from './foundation.ts'

export type MediaRooms = ReturnType<typeof createMediaRooms>

/** Name of the folder in the data directory. */
const DIRECTORY = 'media'
const SWEEP_EVERY_MS = 10 * MINUTE_MS

/** Uploaded files, and the chore that deletes unused ones. */
export function createMediaRooms(base: Foundation, files: FileStore = chooseFileStore(base.config)) {
  const { db, clock, ids, log, guarded, seal, config } = base
  const previews = createPreviews({ seal, clock, origin: originOf(config) })
  const sweep = createMediaSweep({ db, clock, files, keepMs: config.mediaKeepMs })
  return {
    media: createMedia({
      db,
      clock,
      ids,
      files,
      previews,
      guarded,
      log,
      accountBytes: config.mediaAccountBytes,
    }),
    mediaChore: {
      name: 'sweep media',
      dependsOnClock: true,
      everyMs: SWEEP_EVERY_MS,
      run: sweep,
    } satisfies Chore,
  }
}

/** The origin of this node's URLs; '' if it is not known, so that URLs are paths only. */
export function originOf({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  if (publicUrl !== undefined) return publicUrl
  if (port === 0 || host === '0.0.0.0' || host === '::') return ''
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** A bucket if there is one, else a directory, which only works for nodes that share it. */
function chooseFileStore(config: Config): FileStore {
  return withGarbageCollection(
    config.mediaBucket
      ? createObjectStore(config.mediaBucket)
      : createFileStore(join(config.dataDir, DIRECTORY)),
  )
}
