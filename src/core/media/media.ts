import type { Readable } from 'node:stream'
import type { Caller } from '../../contract/caller.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { MediaAsset } from '../../contract/media.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { ByteRange, FileStore } from '../../infra/file-store.ts'
import { type GuardedFetch, GuardedFetchError } from '../../infra/guarded-fetch.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { type AccountId, type AssetId, type Ids, isId, type MessageId, timeOf } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createPlaces } from '../../lib/places.ts'
import { type Asset, fileKey } from './asset.ts'
import { exactLength } from './exact-length.ts'
import { nameInUrl } from './file-name.ts'
import { MAX_BYTES } from './formats.ts'
import { createIntake, type IncomingFile } from './intake.ts'
import type { Previews } from './preview.ts'
import {
  type AssetRef,
  type AssetUser,
  deleteAsset,
  deleteUses,
  hideUnneeded,
  hideUnused,
  insertUse,
  lockAsset,
  lockAssetShared,
  selectAssets,
  updateLastUse,
} from './store.ts'

/** Uploaded files: stored, listed, used by messages and templates, and deleted when nothing uses them. */
export type Media = {
  /**
   * Stores a file while it is uploaded. Throws a 400 or 413 that names `file.path` if the file is not accepted, NoSpace
   * at the account's limit, 503 if it cannot be stored; nothing of a refused file is kept.
   */
  store(accountId: AccountId, file: IncomingFile): Promise<Asset>
  /**
   * Downloads the file at a URL by the guarded fetch, and stores it; a 400 names `path` if it cannot be fetched.
   * RATE_LIMITED while too many are being downloaded on this node.
   */
  fetch(accountId: AccountId, from: { path: string; url: string }): Promise<Asset>
  /** The assets with these ids that the account may use: its own and the platform's. */
  find(accountId: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, Asset>>
  /** An asset of the account; throws NOT_FOUND. */
  read(caller: Caller, id: string): Promise<MediaAsset>
  view(asset: Asset): MediaAsset
  /** The URL of its preview, for views that contain the asset. */
  previewUrl(asset: AssetRef): string
  /** The asset of a preview's URL; throws NOT_FOUND. */
  preview(id: string, token: string): Promise<Asset>
  /** The asset's bytes; the stream fails if some are missing. Rejects with FileMissing or FileStoreUnavailable. */
  open(asset: StoredFile, range?: ByteRange): Promise<Readable>
  /** Deletes an asset of the account. Throws NOT_FOUND, and CONFLICT while a template or a waiting message uses it. */
  remove(caller: Caller, id: string): Promise<void>
  /** Deletes an asset that came with a refused request, unless it is used; never rejects. */
  discard(asset: AssetRef): Promise<void>
  /** Keeps an asset from being deleted until the transaction ends; false if it was deleted. */
  retain(tx: Db, asset: AssetRef): Promise<boolean>
  /** Begins the retention period of an asset whose template is deleted in this transaction. */
  release(tx: Db, asset: AssetRef): Promise<void>
  /** Keeps an asset from being deleted until the message or bulk job has ended; false if it was deleted. */
  addUse(id: AssetId, user: AssetUser): Promise<boolean>
  /** Removes the uses of a message that was not accepted. */
  removeUses(messageId: MessageId): Promise<void>
}

/** The fields of an asset that are needed to read its bytes. */
export type StoredFile = Pick<Asset, 'id' | 'size'>

export type MediaDeps = {
  db: Database
  clock: Clock
  ids: Ids
  files: FileStore
  previews: Previews
  guarded: Pick<GuardedFetch, 'check' | 'fetch'>
  /** The most bytes of all files of an account. */
  accountBytes: number
  log: Pick<Log, 'warn'>
}

/** Enough to download a file of the largest size. */
const FETCH_TIMEOUT_MS = 60_000
const MAX_FETCHED_BYTES = Math.max(...Object.values(MAX_BYTES))
/** Downloads at once on this node, in all and per account: a short request causes a long one, at a pace that its URL decides. */
const MAX_FETCHES = 64
const MAX_FETCHES_OF_ONE = 8

export function createMedia(deps: MediaDeps): Media {
  const { db, files, previews, guarded } = deps
  const intake = createIntake(deps)
  const places = createPlaces({ total: MAX_FETCHES, perOwner: MAX_FETCHES_OF_ONE })

  async function fetch(accountId: AccountId, { path, url }: { path: string; url: string }) {
    const refusal = guarded.check(url)
    if (refusal) throw invalid(path, refusal)
    const leave = places.take(accountId)
    if (!leave) throw new Problem('RATE_LIMITED', 'Too many files are being downloaded at once.')
    try {
      const response = await guarded.fetch({
        url,
        maxBytes: MAX_FETCHED_BYTES,
        timeoutMs: FETCH_TIMEOUT_MS,
      })
      try {
        if (response.status !== 200)
          throw invalid(path, `could not be fetched: the server answered ${response.status}`)
        const declared = response.headers['content-type'] ?? ''
        const fileName = nameInUrl(url) ?? undefined
        await intake.requireSpace(accountId)
        return await intake.storeFile(accountId, { path, fileName, declared, bytes: response.body })
      } finally {
        // If the account has no room, the body was not read: this closes its connection.
        response.body.destroy()
      }
    } catch (error) {
      if (error instanceof GuardedFetchError) throw invalid(path, `could not be fetched: ${error.message}`)
      throw error
    } finally {
      leave()
    }
  }

  async function find(accountId: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, Asset>> {
    const known = ids.filter((id): id is AssetId => isId('ast', id))
    return known.length === 0 ? new Map() : selectAssets(db, accountId, known)
  }

  async function findOwn(accountId: AccountId, id: string): Promise<Asset> {
    const asset = (await find(accountId, [id])).get(id)
    if (asset?.accountId !== accountId) throw unknownAsset()
    return asset
  }

  /** Hides the asset, then deletes its bytes, then its row: the next sweep finds what a crash leaves. */
  async function hideAndDelete(
    ref: AssetRef,
    hide: typeof hideUnused,
  ): Promise<'gone' | 'needed' | 'unknown'> {
    const result = await db.transaction(async tx => {
      if (!(await lockAsset(tx, ref))) return 'unknown'
      return (await hide(tx, ref)) ? 'gone' : 'needed'
    })
    if (result === 'gone') await deleteHidden(deps, ref)
    return result
  }

  function view(asset: Asset): MediaAsset {
    return {
      id: asset.id,
      mediaType: asset.mediaType,
      mimetype: asset.mimetype,
      fileName: asset.fileName,
      size: asset.size,
      sha256: asset.sha256.toString('hex'),
      previewUrl: previews.urlOf(asset),
      createdAt: toIso(timeOf(asset.id)),
    }
  }

  return {
    store: intake.storeFile,
    fetch,
    find,
    read: async (caller, id) => view(await findOwn(caller.account.id, id)),
    view,
    previewUrl: previews.urlOf,
    async preview(id, token) {
      const ref = isId('ast', id) ? previews.read(id, token) : null
      if (!ref) throw unknownAsset()
      return findOwn(ref.accountId, ref.id)
    },
    async open({ id, size }, range) {
      const bytes = await files.read(fileKey(id), range)
      return exactLength(bytes, range ? range.end - range.start + 1 : size)
    },
    async remove(caller, id) {
      if (!isId('ast', id)) throw unknownAsset()
      const result = await hideAndDelete({ accountId: caller.account.id, id }, hideUnneeded)
      if (result === 'unknown') throw unknownAsset()
      if (result === 'needed') {
        throw new Problem('CONFLICT', 'A template or a waiting message uses this asset.')
      }
    },
    async discard(ref) {
      try {
        await hideAndDelete(ref, hideUnused)
      } catch (error) {
        deps.log.warn(
          { err: error, assetId: ref.id },
          'an asset could not be deleted; a later sweep deletes it',
        )
      }
    },
    retain: lockAssetShared,
    release: (tx, ref) => updateLastUse(tx, ref, deps.clock.now()),
    addUse: (id, user) => insertUse(db, id, user),
    removeUses: messageId => deleteUses(db, messageId),
  }
}

/** Deletes the bytes of a hidden asset, and then its row. */
export async function deleteHidden(deps: { db: Db; files: FileStore }, ref: AssetRef): Promise<void> {
  await deps.files.remove(fileKey(ref.id))
  await deleteAsset(deps.db, ref)
}

function unknownAsset(): Problem {
  return new Problem('NOT_FOUND', 'Asset not found')
}
