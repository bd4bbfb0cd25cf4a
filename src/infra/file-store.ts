import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

/**
 * Keeps files under keys such as `7q/ast_…`. What it takes and gives are
 * streams, each as fast as its other side: a file is never whole in memory.
 */
export type FileStore = {
  /**
   * Keeps all of `bytes`, safe from a power cut, or nothing. Rejects with FileStoreUnavailable when
   * the store cannot keep it, and with the source's own error when that breaks.
   */
  write(key: string, bytes: AsyncIterable<Buffer>): Promise<void>
  /** Opens a file, or a part of it. Rejects with FileMissing, or FileStoreUnavailable. */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Takes a file away, and whatever a write that died left of it; none at all is no error. */
  remove(key: string): Promise<void>
}

/** Both ends are included, as HTTP counts. */
export type ByteRange = { start: number; end: number }

/** The store is full, away, or not ours to write to. */
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

/** Larger reads make fewer system calls, and more to collect. */
const READ_BYTES = 64 * 1024
const PRIVATE_FILE = 0o600
const PRIVATE_DIRECTORY = 0o700

/** Files below a directory of this machine, readable by their owner alone. */
export function createFileStore(root: string): FileStore {
  const pathOf = (key: string) => join(root, key)

  /** Under another name until it is whole and on the disk: a name that stands has all its bytes. */
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
      // Before the stream, whose errors would come when headers are gone already.
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

/** The kernel may take less than it was given, as it does on a disk that fills up. */
async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, at)
    at += bytesWritten
  }
}

/** A name is on the disk when its directory is. */
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
