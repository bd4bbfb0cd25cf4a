import { createReadStream, type ReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** A file of the built console, as the build lists it. */
export type ConsoleFile = {
  /** With a slash at its beginning, as in a URL. */
  path: string
  type: string
  etag: string
  sizeBytes: number
  /** Its name has a hash of its content. */
  immutable: boolean
  /** Beside it, compressed, with their sizes in bytes. */
  encoded: Partial<Record<Encoding, number>>
}

/** What the build writes last, and what tells that it is whole. */
export const MANIFEST = 'manifest.json'
const SUFFIX: Record<Encoding, string> = { br: '.br', gzip: '.gz' }

export type ConsoleFiles = {
  /** Null for a path that is not there, and for all of them while it is not built. */
  find(path: string): Promise<ConsoleFile | null>
  open(file: ConsoleFile, encoding?: Encoding): ReadStream
  /** Why there is nothing yet; null while it is being built, or stands. */
  fault(): string | null
  /** Says that it will not come by itself. */
  fail(reason: string): void
}

/**
 * The console as it was built into `directory`. A build that is put in place
 * later, or anew, is noticed at the next look: one `stat` for each.
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
      // The names of the others change with their content: what is known stays right.
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
