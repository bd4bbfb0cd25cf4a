import { addAbortSignal, Readable } from 'node:stream'
import { FileUnavailable } from '../channels/provider.ts'
import type { Media, StoredFile } from '../core/media/media.ts'
import { readAttachment } from '../core/outbox/attachment-store.ts'
import type { Db } from '../infra/db.ts'
import { FileMissing, FileStoreUnavailable } from '../infra/file-store.ts'
import { type GuardedFetch, GuardedFetchError } from '../infra/guarded-fetch.ts'
import type { FileSources } from './outgoing.ts'

/** Of the 4xx, those that blame the moment or the connection, not the request (RFC 9110, 15.5.9 and 15.5.20; RFC 8470; RFC 6585, 4). */
const LATER: ReadonlySet<number> = new Set([408, 421, 425, 429])

type Deps = { db: Db; guarded: GuardedFetch; media: Pick<Media, 'open'> }

/** Where the files of messages come from: the stores, or the user's address through the guarded client. */
export function createFileSources({ db, guarded, media }: Deps): FileSources {
  return {
    stored: (accountId, id) => readAttachment(db, accountId, id),
    uploaded: (asset, signal) => openAsset(media, asset, signal),
    async fetched(url, signal) {
      try {
        const response = await guarded.fetch({ url, signal })
        if (response.status === 200) return withFileErrors(response.body)
        response.body.destroy()
        const later = response.status >= 500 || LATER.has(response.status)
        throw new FileUnavailable(`the attachment's URL responded with status ${response.status}`, later)
      } catch (error) {
        throw toFileUnavailable(error)
      }
    },
  }
}

/** The same bytes; where they break off, the reader gets an error that says whether a later try may succeed. */
function withFileErrors(body: Readable): Readable {
  const guardedBody = Readable.from(relay(body), { objectMode: false })
  // A generator that was never started does not close its source when it ends.
  guardedBody.once('close', () => body.destroy())
  return guardedBody
}

async function* relay(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw toFileUnavailable(error)
  }
}

function toFileUnavailable(error: unknown): unknown {
  if (!(error instanceof GuardedFetchError)) return error
  return new FileUnavailable(`the attachment could not be fetched: ${error.reason}`, error.retryable)
}

/** Retryable: the file store may come back, and a file that this node does not have may be on another node's disk. */
async function openAsset(
  media: Pick<Media, 'open'>,
  asset: StoredFile,
  signal: AbortSignal,
): Promise<NodeJS.ReadableStream> {
  try {
    return addAbortSignal(signal, await media.open(asset))
  } catch (error) {
    if (error instanceof FileMissing || error instanceof FileStoreUnavailable) {
      throw new FileUnavailable('the uploaded file cannot be read', true)
    }
    throw error
  }
}
