import type { OutgoingFile } from '../../channels/provider.ts'
import type { AttachmentType } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, type AssetId, isId } from '../../lib/ids.ts'
import type { HeaderFile } from './spec.ts'

/** An uploaded file, for a header. */
export type HeaderAsset = HeaderFile & { mediaType: AttachmentType }

/** The uploaded files, for templates. */
export type TemplateMedia = {
  /** A file of the account or the platform; null if there is none. */
  find(accountId: AccountId, id: AssetId): Promise<HeaderAsset | null>
  /** Downloads and stores the file at a URL; throws a Problem at `path` if that fails. */
  download(accountId: AccountId, url: string, path: string): Promise<HeaderAsset>
  /** Keeps a file from being deleted during `work`; null if it does not exist any more. */
  retainDuring<T>(accountId: AccountId, file: HeaderFile, work: () => Promise<T>): Promise<T | null>
  /** Keeps a file from being deleted until the transaction ends; false if it does not exist any more. */
  retain(tx: Db, file: HeaderFile): Promise<boolean>
  /** Begins the retention period of a file whose template is deleted in this transaction. */
  release(tx: Db, file: HeaderFile): Promise<void>
  /** Deletes a file that is not used; never rejects. */
  discard(file: HeaderFile): Promise<void>
  outgoing(file: HeaderFile, type: AttachmentType): OutgoingFile
  /** A URL that shows the file. */
  previewUrl(file: HeaderFile): string
}

/**
 * The file of a create's header, and the body with the `headerType` of the file if it has none.
 * Throws a 400 that names the field, also if `headerType` and file differ.
 */
export async function readHeaderFile(
  media: Pick<TemplateMedia, 'find' | 'download' | 'discard'>,
  accountId: AccountId,
  body: TemplateCreate,
): Promise<[TemplateCreate, HeaderFile | null]> {
  if (body.headerType === 'text') return [body, null]
  const asset = await findHeaderAsset(media, accountId, body)
  if (!asset) return [body, null]
  const { mediaType: headerType, ...file } = asset
  if (headerType !== 'audio' && (body.headerType ?? headerType) === headerType) {
    return [{ ...body, headerType }, file]
  }
  await discardDownloaded(media, body, file)
  const path = body.headerAssetId === undefined ? 'headerMediaUrl' : 'headerAssetId'
  throw invalid(path, `is of type ${headerType}, not ${body.headerType ?? 'image, video or document'}`)
}

/** Deletes a file that was downloaded for a template that was not created; a new request downloads it again. */
export async function discardDownloaded(
  media: Pick<TemplateMedia, 'discard'>,
  { headerMediaUrl }: TemplateCreate,
  file: HeaderFile | null,
): Promise<void> {
  if (file && headerMediaUrl !== undefined) await media.discard(file)
}

async function findHeaderAsset(
  media: Pick<TemplateMedia, 'find' | 'download'>,
  accountId: AccountId,
  { headerAssetId, headerMediaUrl }: TemplateCreate,
): Promise<HeaderAsset | null> {
  if (headerAssetId !== undefined && headerMediaUrl !== undefined) {
    throw invalid('headerMediaUrl', 'must not be given together with headerAssetId')
  }
  if (headerAssetId !== undefined) return findAsset(media, accountId, headerAssetId)
  return headerMediaUrl === undefined ? null : media.download(accountId, headerMediaUrl, 'headerMediaUrl')
}

async function findAsset(
  media: Pick<TemplateMedia, 'find'>,
  accountId: AccountId,
  id: string,
): Promise<HeaderAsset> {
  const asset = isId('ast', id) ? await media.find(accountId, id) : null
  if (asset) return asset
  throw invalid('headerAssetId', 'asset not found')
}
