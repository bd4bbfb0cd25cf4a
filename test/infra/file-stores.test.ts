import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createFileStore,
  FileMissing,
  type FileStore,
  FileStoreUnavailable,
} from '../../src/infra/file-store.ts'
import { withGarbageCollection } from '../../src/infra/gc-store.ts'
import { createObjectStore } from '../../src/infra/object-store.ts'
import { BUCKET, CREDENTIALS, REGION, type S3Server, startS3Server } from '../support/s3-server.ts'

const MB = 1024 * 1024
const KEY = '7q/ast_01890a5dac96774bbcceb30209'

/** Bytes in chunks, as a request delivers them. */
async function* chunks(bytes: Buffer, size = 64 * 1024): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** A source that fails after these bytes. */
async function* broken(bytes: Buffer, error: Error): AsyncGenerator<Buffer> {
  yield* chunks(bytes)
  throw error
}

async function read(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}

/** The behaviour that every file store shares. */
function behavesLikeAFileStore(open: () => { store: FileStore; left(): Promise<number> }): void {
  it.each([1, 70_000, 12 * MB])('returns the %d bytes that were written', async size => {
    const bytes = randomBytes(size)
    const { store } = open()
    await store.write(KEY, chunks(bytes))
    expect((await read(await store.read(KEY))).equals(bytes)).toBe(true)
    await store.remove(KEY)
  })

  it('returns a range of the bytes', async () => {
    const { store } = open()
    await store.write(KEY, chunks(Buffer.from('0123456789')))
    expect((await read(await store.read(KEY, { start: 3, end: 5 }))).toString()).toBe('345')
    await store.remove(KEY)
  })

  it('throws FileMissing for a file that does not exist', async () => {
    await expect(open().store.read(KEY)).rejects.toThrow(FileMissing)
  })

  it('removes a file, and ignores one that does not exist', async () => {
    const { store, left } = open()
    await store.write(KEY, chunks(Buffer.from('x')))
    await store.remove(KEY)
    await store.remove(KEY)
    await expect(store.read(KEY)).rejects.toThrow(FileMissing)
    expect(await left()).toBe(0)
  })

  it.each([0, 7 * MB])(
    'keeps nothing when the source fails after %d bytes, and rethrows its error',
    async size => {
      const { store, left } = open()
      const error = new Error('the source broke')
      await expect(store.write(KEY, broken(randomBytes(size), error))).rejects.toBe(error)
      await expect(store.read(KEY)).rejects.toThrow(FileMissing)
      expect(await left()).toBe(0)
    },
  )
}

describe('files in a directory', () => {
  let root: string
  let store: FileStore
  const files = async () =>
    (await readdir(root, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'posthorn-files-'))
    store = createFileStore(join(root, 'media'))
  })
  afterAll(() => rm(root, { recursive: true }))

  behavesLikeAFileStore(() => ({ store, left: async () => (await files()).length }))

  it('are readable only by their owner', async () => {
    await store.write(KEY, chunks(Buffer.from('x')))
    expect((await stat(join(root, 'media', KEY))).mode & 0o777).toBe(0o600)
    expect((await stat(join(root, 'media', '7q'))).mode & 0o777).toBe(0o700)
  })

  it('remove() also deletes the remains of a write whose process crashed', async () => {
    await writeFile(join(root, 'media', `${KEY}.partial`), 'half of i')
    await store.remove(KEY)
    expect(await files()).toEqual([])
  })

  it('cannot be written when the root is not a directory', async () => {
    const blocked = join(root, 'blocked')
    await writeFile(blocked, '')
    await expect(createFileStore(blocked).write(KEY, chunks(Buffer.from('x')))).rejects.toThrow(
      FileStoreUnavailable,
    )
  })

  it.runIf(process.platform === 'linux')(
    'cannot be written on a full disk, and leave nothing behind',
    async () => {
      // The test’s own link inside its own directory: every write through it fails with ENOSPC.
      await mkdir(join(root, 'full', '7q'), { recursive: true })
      await symlink('/dev/full', join(root, 'full', `${KEY}.partial`))
      const write = createFileStore(join(root, 'full')).write(KEY, chunks(Buffer.from('x')))
      await expect(write).rejects.toMatchObject({ name: 'FileStoreUnavailable', cause: { code: 'ENOSPC' } })
      expect(await readdir(join(root, 'full', '7q'))).toEqual([])
    },
  )
})

/** Against a scripted server: a real S3 cannot be installed here. */
describe('files in a bucket', () => {
  let s3: S3Server
  let store: FileStore

  beforeEach(async () => {
    s3 = await startS3Server()
    store = createObjectStore({
      bucket: BUCKET,
      region: REGION,
      endpoint: s3.endpoint,
      credentials: CREDENTIALS,
      pathStyle: true,
    })
  })
  afterEach(async () => {
    expect(s3.unsigned).toEqual([])
    await s3.close()
  })

  behavesLikeAFileStore(() => ({ store, left: async () => s3.objects.size + s3.uploads.size }))

  it('are uploaded in one request when small, and in parts of 5 MB when large', async () => {
    await store.write(KEY, chunks(Buffer.from('small')))
    expect(s3.requests).toEqual(['PutObject'])
    s3.requests.length = 0
    await store.write(KEY, chunks(randomBytes(12 * MB)))
    expect(s3.requests).toEqual([
      'CreateMultipartUpload',
      'UploadPart',
      'UploadPart',
      'UploadPart',
      'CompleteMultipartUpload',
    ])
  })

  it('are retried when the store returns 503', async () => {
    s3.fail('PutObject', 503)
    await store.write(KEY, chunks(Buffer.from('x')))
    expect(s3.requests).toEqual(['PutObject', 'PutObject'])
  })

  it('leave no part behind when the store keeps failing', async () => {
    s3.fail('UploadPart', 500, 99)
    await expect(store.write(KEY, chunks(randomBytes(12 * MB)))).rejects.toThrow(FileStoreUnavailable)
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0])
    expect(s3.requests).toContain('AbortMultipartUpload')
  })

  it('remove() also deletes the remains of a write whose process crashed', async () => {
    s3.uploads.set('dead', { key: KEY, parts: new Map([[1, Buffer.alloc(10)]]) })
    s3.uploads.set('alive', { key: `${KEY}0`, parts: new Map() })
    await store.remove(KEY)
    expect([...s3.uploads.keys()]).toEqual(['alive'])
  })

  describe('in a store that falls silent', () => {
    const hasty = () =>
      createObjectStore({
        bucket: BUCKET,
        region: REGION,
        endpoint: s3.endpoint,
        credentials: CREDENTIALS,
        pathStyle: true,
        silenceMs: 50,
      })

    it.each<[string, (store: FileStore) => Promise<unknown>]>([
      ['PutObject', store => store.write(KEY, chunks(Buffer.from('x')))],
      ['UploadPart', store => store.write(KEY, chunks(randomBytes(6 * MB)))],
      ['GetObject', store => store.read(KEY)],
      ['DeleteObject', store => store.remove(KEY)],
    ])('are unavailable after a while, at %s', async (operation, use) => {
      s3.silence(operation)
      await expect(use(hasty())).rejects.toThrow(FileStoreUnavailable)
    })

    it('break off after a while when that is in the middle of a file', async () => {
      s3.silence('GetObject', 'midway')
      await expect(read(await hasty().read(KEY))).rejects.toThrow('inactivity')
    })
  })

  it('cannot be read or removed while the store fails', async () => {
    s3.fail('GetObject', 500, 99)
    await expect(store.read(KEY)).rejects.toThrow(FileStoreUnavailable)
    s3.fail('DeleteObject', 403, 99)
    await expect(store.remove(KEY)).rejects.toThrow(FileStoreUnavailable)
  })
})

describe('a store that collects garbage', () => {
  it('closes a file whose stream ends before it was read', async () => {
    const file = new PassThrough()
    const closed = once(file, 'close')
    const unused = async () => {}
    const store = withGarbageCollection({ read: async () => file, write: unused, remove: unused })
    ;(await store.read(KEY)).destroy()
    await closed
  })
})
