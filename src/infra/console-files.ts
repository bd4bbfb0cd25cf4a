import { createReadStream, type ReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

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
  /** Records that the build failed. */
  fail(reason: string): void
}

/**
 * The console that was built into `directory`. A later build is noticed at the next request: that takes one
 * `stat`.
 */
export function createConsoleFiles(directory: string): ConsoleFiles {
  const manifest = join(directory, MANIFEST)
  let files = new Map<string, ConsoleFile>()
  let readAtMs: number | null = null
  let reason: string | null = null

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

  return {
    async find(path) {
      // An immutable file's name changes with its content, so what is known of it stays right.
      if (!files.get(path)?.immutable) await refresh().catch(() => {})
      return files.get(path) ?? null
    },
    open: ({ path }, encoding) =>
      createReadStream(join(directory, path) + (encoding === undefined ? '' : SUFFIX[encoding])),
    fault: () => reason,
    fail(why) {
      reason = why
    },
  }
}
