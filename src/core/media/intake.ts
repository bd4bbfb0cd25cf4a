import { Problem } from '../../contract/errors.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type FileStore, FileStoreUnavailable } from '../../infra/file-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { lockAccount } from '../accounts/store.ts'
import { type Asset, fileKey } from './asset.ts'
import { readFileName } from './file-name.ts'
import { createInspection, type InspectionResult } from './inspect.ts'
import { type AssetRef, deleteAsset, hideAsset, insertUpload, markStored, measureAssets } from './store.ts'

/** A file that is being uploaded. */
export type IncomingFile = {
  /** The field that brings it, for refusals. */
  path: string
  /** As the client gave it; cleaned here. */
  fileName: string | undefined
  /** The declared media type; empty without one. */
  declared: string
  bytes: AsyncIterable<Buffer>
}

/** The account has no space left for this file. It was read, so that its request can be told apart; nothing of it is kept. */
export class NoSpace extends Problem {
  readonly asset: Asset

  constructor(message: string, asset: Asset) {
    super('CONFLICT', message)
    this.asset = asset
  }
}

export type IntakeDeps = {
  db: Database
  clock: Clock
  ids: Ids
  files: FileStore
  /** The most bytes of all files of an account. */
  accountBytes: number
  log: Pick<Log, 'warn'>
}

/**
 * Accepts files, and checks them while they stream into the file store. Their row is written
 * first, hidden, and shown last: a crash in between leaves a hidden row, by which
 * the sweep finds the file's bytes.
 */
export function createIntake({ db, clock, ids, files, accountBytes, log }: IntakeDeps) {
  const full = `An account has at most ${Math.floor(accountBytes / 1_048_576)} MB of files: delete what is not needed.`

  async function storeFile(accountId: AccountId, file: IncomingFile): Promise<Asset> {
    const ref = { accountId, id: ids.next('ast') }
    const inspection = createInspection(file.path, file.declared)
    const inspected = inspection.inspect(file.bytes)
    // For an account without any room left, nothing is written.
    if (!(await hasSpace(db, accountId, 1))) {
      await readToEnd(inspected)
      throw new NoSpace(full, toAsset(ref, file, inspection.result()))
    }
    await insertUpload(db, ref, clock.now())
    try {
      await files.write(fileKey(ref.id), inspected)
      const asset = toAsset(ref, file, inspection.result())
      await finishUpload(asset)
      return asset
    } catch (error) {
      await deleteFailedUpload(ref)
      throw error instanceof FileStoreUnavailable ? unavailable(error) : error
    }
  }

  /** Shows the row. Concurrent uploads of an account do this one at a time, so that together they stay within the limit. */
  function finishUpload(asset: Asset): Promise<void> {
    return db.transaction(async tx => {
      await lockAccount(tx, asset.accountId)
      if (!(await hasSpace(tx, asset.accountId, asset.size))) throw new NoSpace(full, asset)
      if (!(await markStored(tx, asset, clock.now())))
        throw new FileStoreUnavailable('the upload took too long')
    })
  }

  async function hasSpace(tx: Db, accountId: AccountId, bytes: number): Promise<boolean> {
    return (await measureAssets(tx, accountId)) + bytes <= accountBytes
  }

  /** Refuses an account without any room left, before its file is read. */
  async function requireSpace(accountId: AccountId): Promise<void> {
    if (!(await hasSpace(db, accountId, 1))) throw new Problem('CONFLICT', full)
  }

  /** Hides the row first: it may be shown already, if the database's answer to that was lost. */
  async function deleteFailedUpload(ref: AssetRef): Promise<void> {
    try {
      await hideAsset(db, ref)
      await files.remove(fileKey(ref.id))
      await deleteAsset(db, ref)
    } catch (error) {
      log.warn(
        { err: error, assetId: ref.id },
        'the file of a failed upload could not be deleted; a later sweep deletes it',
      )
    }
  }

  return { storeFile, requireSpace }
}

async function readToEnd(bytes: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of bytes);
}

function toAsset(ref: AssetRef, file: IncomingFile, { format, size, sha256 }: InspectionResult): Asset {
  const { mediaType, mimetype, extension } = format
  const fileName = readFileName(file.fileName, `${mediaType}.${extension}`)
  return { ...ref, mediaType, mimetype, fileName, size, sha256 }
}

/** The disk is full or the file store is down: not the request's fault, and a later try may succeed. */
function unavailable(cause: FileStoreUnavailable): Problem {
  return new Problem('SERVICE_UNAVAILABLE', 'The file cannot be stored right now.', {
    retryAfterSeconds: 5,
    cause,
  })
}
