import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

/**
 * Stores files by keys such as `7q/ast_…`. Data is streamed with backpressure: a file is never in memory as a
 * whole.
 */
export type FileStore = {
  /**
   * Stores all of `bytes` durably (fsync), or nothing. Rejects with FileStoreUnavailable if the store fails,
   * and with the source's own error if that fails.
   */
  write(key: string, bytes: AsyncIterable<Buffer>): Promise<void>
  /** Opens a file, or a range of it. Rejects with FileMissing or FileStoreUnavailable. */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Deletes a file, and what an interrupted write left of it. A missing file is no error. */
  remove(key: string): Promise<void>
}

/** Both ends are inclusive, as in HTTP. */
export type ByteRange = { start: number; end: number }

/** The store is full, unreachable, or not writable. */
export class FileStoreUnavailable extends Error {
  constructor(cause: unknown) {
    super(`The file store failed: ${(cause as Error)?.message ?? cause}`, { cause })
    this.name = 'FileStoreUnavailable'
  }
}

export class FileMissing extends Error {
  constructor(key: string, options?: ErrorOptions) {
    super(`The file store has no ${key}.`, options)
    this.name = 'FileMissing'
  }
}

/** Larger reads need fewer system calls, but leave more garbage. */
const READ_BYTES = 64 * 1024
const PRIVATE_FILE = 0o600
const PRIVATE_DIRECTORY = 0o700

/** A store in a directory of this machine; its files are readable only by their owner. */
export function createFileStore(root: string): FileStore {
  const pathOf = (key: string) => join(root, key)

  /** Writes to another name and renames when all is on disk: a file under its own name is complete. */
  async function write(key: string, bytes: AsyncIterable<Buffer>): Promise<void> {
    const path = pathOf(key)
    const partial = partialOf(path)
    await attempt(() => mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY }))
    try {
      await fill(partial, bytes)
      await attempt(() => rename(partial, path))
      await attempt(() => syncDirectory(dirname(path)))
    } catch (error) {
      await rm(partial, { force: true }).catch(() => {})
      throw error
    }
  }

  async function read(key: string, range?: ByteRange): Promise<Readable> {
    const path = pathOf(key)
    try {
      // Checked first, since an error of the stream would come after the response headers were sent.
      await stat(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new FileMissing(key, { cause: error })
      throw new FileStoreUnavailable(error)
    }
    return createReadStream(path, { ...range, highWaterMark: READ_BYTES })
  }

  async function remove(key: string): Promise<void> {
    const path = pathOf(key)
    await attempt(() => Promise.all([rm(path, { force: true }), rm(partialOf(path), { force: true })]))
  }

  return { write, read, remove }
}

function partialOf(path: string): string {
  return `${path}.partial`
}

async function fill(path: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const file = await attempt(() => open(path, 'w', PRIVATE_FILE))
  try {
    for await (const chunk of bytes) await attempt(() => writeAll(file, chunk))
    await attempt(() => file.sync())
  } finally {
    await file.close().catch(() => {})
  }
}

/** A write may be partial, as on a disk that fills up. */
async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, at)
    at += bytesWritten
  }
}

/** A rename is durable only once the directory is synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new FileStoreUnavailable(error)
  }
}
