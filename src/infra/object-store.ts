import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { type ByteRange, FileMissing, type FileStore, FileStoreUnavailable } from './file-store.ts'

export type ObjectStoreOptions = {
  bucket: string
  region: string
  /** Amazon's endpoint of the region if undefined. */
  endpoint: string | undefined
  /** If undefined, the credentials that the machine has: a role, a profile. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`, as most stores other than Amazon's need it. */
  pathStyle: boolean
  /** How long an open connection may be silent, in ms; 30 s by default. */
  silenceMs?: number
}

/** S3's smallest part size; smaller files go in one request. */
const PART_BYTES = 5 * 1024 * 1024
/** Concurrent part uploads; each part is in memory. */
const PARTS_AT_ONCE = 2
/**
 * Memory per upload: the parts in flight, the next one as it arrives, and the chunks that it is built from.
 * Measured: 17 MB each with 50 concurrent uploads.
 */
export const UPLOAD_BYTES = (PARTS_AT_ONCE + 2) * PART_BYTES
const CONNECT_TIMEOUT_MS = 5_000
const SILENCE_MS = 30_000
const MAX_ATTEMPTS = 3

/**
 * Files in an S3-compatible bucket, for nodes without a shared disk. An object is created when its last byte
 * has arrived, or not at all. The client is loaded at its first use, since it is large and a node may not
 * need it.
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
      // Deletes its parts by itself if it fails.
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
    maxAttempts: MAX_ATTEMPTS,
    // Not all stores other than Amazon's support the newer trailing checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Not `requestTimeout`: that one only logs a warning, and does not see a response that stops midway.
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: options.silenceMs ?? SILENCE_MS,
    },
  })
}

/** Aborts unfinished uploads: the parts that a crashed node left are invisible in the bucket, but cost money. */
async function abortUploads(client: S3Client, bucket: string, key: string): Promise<void> {
  const { AbortMultipartUploadCommand, ListMultipartUploadsCommand } = await import('@aws-sdk/client-s3')
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key }))
  for (const { Key, UploadId } of Uploads) {
    if (Key === key) await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
}

/** Passes the bytes on, and keeps the error of the source, to tell it from one of the store. */
function watch(bytes: AsyncIterable<Buffer>): { bytes: AsyncIterable<Buffer>; failure(): unknown } {
  let failed: unknown
  /** Whether the reader has a chunk: an error that is thrown here meanwhile is the reader's. */
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
