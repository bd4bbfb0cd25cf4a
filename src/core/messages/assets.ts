import { Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { AssetId } from '../../lib/ids.ts'
import type { Asset } from '../media/asset.ts'
import type { StoredContent } from '../outbox/stored-content.ts'

/** The uploaded files that a body names, by their ids. */
export type NamedAssets = ReadonlyMap<string, Asset>

/** The ids of the uploaded files that a body names; usually none. */
export function assetIdsOf({ attachment, template }: SingleSendBody): readonly string[] {
  const ids = [attachment?.assetId, template?.headerAssetId].filter(id => id !== undefined)
  return ids.length === 0 ? NONE : ids
}

const NONE: readonly string[] = []

/** The file that `path` names; throws NOT_FOUND for one that the account may not use. */
export function assetOf(assets: NamedAssets | undefined, id: string, path: string): Asset {
  const asset = assets?.get(id)
  if (asset) return asset
  throw assetNotFound(path)
}

/** NOT_FOUND for a file that does not exist, or was deleted. */
export function assetNotFound(path: string): Problem {
  const message = 'asset not found'
  return new Problem('NOT_FOUND', `${path}: ${message}`, { details: [{ path, message }] })
}

/** An uploaded file that a message contains, and the field that named it. */
export type CarriedAsset = { id: AssetId; path: string }

const CARRIES_NONE: readonly CarriedAsset[] = []

/** The uploaded files that a message contains; usually none. */
export function carriedAssets({ attachment, template }: StoredContent): readonly CarriedAsset[] {
  if (!attachment && !template) return CARRIES_NONE
  const header = template?.header
  const file = header && header.type !== 'text' ? header.file : null
  return [
    { id: attachment?.assetId, path: 'attachment.assetId' },
    { id: file?.assetId, path: 'template' },
  ].flatMap(({ id, path }) => (id ? [{ id, path }] : []))
}
