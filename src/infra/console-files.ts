import { createReadStream, type ReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'

const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** A file of the built console, from the build's manifest. */
export type ConsoleFile = {
  /** With a leading slash, as in a URL. */
  path: string
  type: string
  etag: string
  sizeBytes: number
  /** Whether its name contains a hash of its content. */
  immutable: boolean
  /** Compressed versions beside it, with their sizes in bytes. */
  encoded: Partial<Record<Encoding, number>>
}

/** The build writes this file last: if it exists, the build is complete. */
export const MANIFEST = 'manifest.json'
const SUFFIX: Record<Encoding, string> = { br: '.br', gzip: '.gz' }

export type ConsoleFiles = {
  /** Null if there is no such file, or the console is not built yet. */
  find(path: string): Promise<ConsoleFile | null>
  open(file: ConsoleFile, encoding?: Encoding): ReadStream
  /** Why there is no console; null while it is being built, and once it is there. */
  fault(): string | null
  /** Says that a build runs, or is about to: `awaitBuild` waits for its end. */
  beginBuild(): void
  /** Says that it ended, and why it failed; null if it did not. */
  endBuild(reason: string | null): void
  /**
   * Resolves when the build has ended, the client is gone, or after 25 s; at once if no build runs or too many requests
   * wait for it.
   */
  awaitBuild(gone: AbortSignal): Promise<void>
  /** Ends all waits, and has no new ones: the server stops. */
  stopWaiting(): void
}

/** Longer than a build takes on a small machine, and shorter than the time-outs of browsers and proxies. */
const BUILD_WAIT_MS = 25_000
/** The page needs one request of each browser. */
const MAX_WAITING = 64

/**
 * The console that was built into `directory`. A later build is noticed at the next request: that takes one
 * `stat`.
 */
export function createConsoleFiles(directory: string, clock: Pick<Clock, 'after'>): ConsoleFiles {
  const manifest = join(directory, MANIFEST)
  let files = new Map<string, ConsoleFile>()
  let readAtMs: number | null = null
  let reason: string | null = null
  let isBuilding = false
  const waiting = new Set<() => void>()

  async function refresh(): Promise<void> {
    const writtenAtMs = await stat(manifest).then(
      found => found.mtimeMs,
      () => null,
    )
    if (writtenAtMs === null || writtenAtMs === readAtMs) return
    const listed = JSON.parse(await readFile(manifest, 'utf8')) as ConsoleFile[]
    files = new Map(listed.map(file => [file.path, file]))
    readAtMs = writtenAtMs
    reason = null
  }

  function stopWaiting(): void {
    isBuilding = false
    for (const end of waiting) end()
  }

  return {
    async find(path) {
      // An immutable file's name changes with its content, so what is known of it stays right.
      if (!files.get(path)?.immutable) await refresh().catch(() => {})
      return files.get(path) ?? null
    },
    open: ({ path }, encoding) =>
      createReadStream(join(directory, path) + (encoding === undefined ? '' : SUFFIX[encoding])),
    fault: () => reason,
    beginBuild() {
      isBuilding = true
    },
    endBuild(why) {
      reason = why
      stopWaiting()
    },
    awaitBuild(gone) {
      if (!isBuilding || gone.aborted || waiting.size >= MAX_WAITING) return Promise.resolve()
      return new Promise(resolve => {
        const end = () => {
          cancel()
          gone.removeEventListener('abort', end)
          waiting.delete(end)
          resolve()
        }
        const cancel = clock.after(BUILD_WAIT_MS, end)
        gone.addEventListener('abort', end)
        waiting.add(end)
      })
    },
    stopWaiting,
  }
}
