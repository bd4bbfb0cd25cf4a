import type { OutgoingFile } from '../../channels/provider.ts'
import type { AttachmentType } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, type AssetId, isId } from '../../lib/ids.ts'
import type { HeaderFile } from './spec.ts'

/** An uploaded file, as far as a header needs it. */
export type HeaderAsset = HeaderFile & { mediaType: AttachmentType }

/** The uploaded files, as templates use them. */
export type TemplateMedia = {
  /** The account's own, or the platform's; null where there is none. */
  find(accountId: AccountId, id: AssetId): Promise<HeaderAsset | null>
  /** Takes the file behind an address in; a Problem under `path` where it cannot be had. */
  takeIn(accountId: AccountId, url: string, path: string): Promise<HeaderAsset>
  /** Keeps a file while something is done with it; null when it is gone. */
  hold<T>(accountId: AccountId, file: HeaderFile, work: () => Promise<T>): Promise<T | null>
  /** Keeps a file until the transaction ends; false when it is gone. */
  keep(tx: Db, file: HeaderFile): Promise<boolean>
  /** Takes a file away that nobody needs; never rejects. */
  discard(file: HeaderFile): Promise<void>
  outgoing(file: HeaderFile, type: AttachmentType): OutgoingFile
  /** Where a file is shown. */
  previewUrl(file: HeaderFile): string
}

/**
 * The body of a create and the file that its header shows, of the type that the header says; a file
 * alone says what header it is. Throws a 400 that names the field.
 */
export async function readHeaderFile(
  media: Pick<TemplateMedia, 'find' | 'takeIn' | 'discard'>,
  accountId: AccountId,
  body: TemplateCreate,
): Promise<[TemplateCreate, HeaderFile | null]> {
  if (body.headerType === 'text') return [body, null]
  const asset = await headerAsset(media, accountId, body)
  if (!asset) return [body, null]
  const { mediaType: headerType, ...file } = asset
  if (headerType !== 'audio' && (body.headerType ?? headerType) === headerType) {
    return [{ ...body, headerType }, file]
  }
  await dropFetched(media, body, file)
  const path = body.headerAssetId === undefined ? 'headerMediaUrl' : 'headerAssetId'
  throw invalid(path, `is of type ${headerType}, not ${body.headerType ?? 'image, video or document'}`)
}

/** What was fetched for a template that comes to nothing: whoever asks again brings it again. */
export async function dropFetched(
  media: Pick<TemplateMedia, 'discard'>,
  { headerMediaUrl }: TemplateCreate,
  file: HeaderFile | null,
): Promise<void> {
  if (file && headerMediaUrl !== undefined) await media.discard(file)
}

async function headerAsset(
  media: Pick<TemplateMedia, 'find' | 'takeIn'>,
  accountId: AccountId,
  { headerAssetId, headerMediaUrl }: TemplateCreate,
): Promise<HeaderAsset | null> {
  if (headerAssetId !== undefined && headerMediaUrl !== undefined) {
    throw invalid('headerMediaUrl', 'or headerAssetId, not both')
  }
  if (headerAssetId !== undefined) return findAsset(media, accountId, headerAssetId)
  return headerMediaUrl === undefined ? null : media.takeIn(accountId, headerMediaUrl, 'headerMediaUrl')
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
