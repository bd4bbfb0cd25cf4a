import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { type ByteRange, FileMissing, type FileStore, FileStoreUnavailable } from './file-store.ts'

export type ObjectStoreOptions = {
  bucket: string
  region: string
  /** Amazon's own for the region where absent. */
  endpoint: string | undefined
  /** Where absent, whatever the machine has been given: a role, a profile. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`, as most stores other than Amazon's want it. */
  pathStyle: boolean
}

/** The least that a part may have; what is smaller goes in one request. */
const PART_BYTES = 5 * 1024 * 1024
/** Parts under way at once: each is in memory meanwhile. */
const PARTS_AT_ONCE = 2
/**
 * What one upload has in memory: the parts under way, the next one as it comes, and what that is put together
 * from. Measured: 17 MB each, of 50 at once.
 */
export const UPLOAD_BYTES = (PARTS_AT_ONCE + 2) * PART_BYTES
const CONNECT_TIMEOUT_MS = 5_000
/** Silence of an open connection. */
const SOCKET_TIMEOUT_MS = 30_000
const MOST_ATTEMPTS = 3

/**
 * Files in an S3-compatible bucket, for nodes that share no disk. An object
 * comes to be when its last byte has arrived, or not at all. The client is
 * loaded at the first use: it is large, and a node may never need it.
 */
export function createObjectStore(options: ObjectStoreOptions): FileStore {
  let connected: Promise<S3Client> | undefined
  const connect = () => {
    connected ??= createClient(options)
    return connected
  }
  const place = (key: string) => ({ Bucket: options.bucket, Key: key })

  async function write(key: string, bytes: AsyncIterable<Buffer>): Promise<void> {
    const source = watch(bytes)
    try {
      const [client, { Upload }] = await Promise.all([connect(), import('@aws-sdk/lib-storage')])
      const upload = new Upload({
        client,
        params: { ...place(key), Body: Readable.from(source.bytes, { objectMode: false }) },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      })
      // Takes its parts back by itself when it fails.
      await upload.done()
    } catch (error) {
      throw source.failure() ?? new FileStoreUnavailable(error)
    }
  }

  async function read(key: string, range?: ByteRange): Promise<Readable> {
    const { GetObjectCommand } = await import('@aws-sdk/client-s3')
    try {
      const client = await connect()
      const asked = { ...place(key), ...(range && { Range: `bytes=${range.start}-${range.end}` }) }
      const { Body } = await client.send(new GetObjectCommand(asked))
      return Body as Readable
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') throw new FileMissing(key, { cause: error })
      throw new FileStoreUnavailable(error)
    }
  }

  async function remove(key: string): Promise<void> {
    const { DeleteObjectCommand } = await import('@aws-sdk/client-s3')
    try {
      const client = await connect()
      await client.send(new DeleteObjectCommand(place(key)))
      await abortUploads(client, options.bucket, key)
    } catch (error) {
      throw new FileStoreUnavailable(error)
    }
  }

  return { write, read, remove }
}

async function createClient(options: ObjectStoreOptions): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3')
  return new S3Client({
    region: options.region,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.credentials && { credentials: options.credentials }),
    forcePathStyle: options.pathStyle,
    maxAttempts: MOST_ATTEMPTS,
    // Stores other than Amazon's do not all know the newer trailing checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: SOCKET_TIMEOUT_MS },
  })
}

/** Parts that a dead node left lie in the bucket unseen, and are paid for. */
async function abortUploads(client: S3Client, bucket: string, key: string): Promise<void> {
  const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = await import('@aws-sdk/client-s3')
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key }))
  for (const { Key, UploadId } of Uploads) {
    if (Key === key) await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
}

/** The same bytes, and the error with which they broke off, to tell it from the store's. */
function watch(bytes: AsyncIterable<Buffer>): { bytes: AsyncIterable<Buffer>; failure(): unknown } {
  let failed: unknown
  /** While the reader has a chunk, what is thrown in here is the reader's. */
  let handedOut = false
  async function* watched(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of bytes) {
        handedOut = true
        yield chunk
        handedOut = false
      }
    } catch (error) {
      if (!handedOut) failed = error
      throw error
    }
  }
  return { bytes: watched(), failure: () => failed }
}
