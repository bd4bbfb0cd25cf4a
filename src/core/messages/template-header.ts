import type { AttachmentType } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { nameInUrl } from '../media/file-name.ts'
import type { StoredAttachment } from '../outbox/stored-content.ts'
import type { TemplateSnapshot } from '../templates/snapshot.ts'
import { allowsHeaderOverride } from '../templates/view.ts'
import { assetOf, type NamedAssets } from './assets.ts'
import { type CheckUrl, mimetypeByName } from './attachment.ts'

/** What is needed to resolve the file of a header. */
export type HeaderSources = {
  checkUrl: CheckUrl
  /** The uploaded files that the send names. */
  assets: NamedAssets | undefined
}

/**
 * The header file of an official template: the send's if it gives one, else the
 * template's. Null if the template has no media header. Throws a 400 that
 * names the field.
 */
export function headerFileOf(
  { template: use }: SingleSendBody,
  template: TemplateSnapshot,
  sources: HeaderSources,
): StoredAttachment | null {
  const given = overrideOf(use ?? {})
  const { header } = template.spec
  const type = header && header.type !== 'text' ? header.type : null
  if (type === null || !allowsHeaderOverride(template)) {
    const path = given?.path ?? (use?.headerMediaType !== undefined ? 'template.headerMediaType' : null)
    if (path) throw invalid(path, 'is not accepted by this template, which has no media header')
    return null
  }
  if (use?.headerMediaType !== undefined && use.headerMediaType !== type) {
    throw invalid('template.headerMediaType', `must be ${type} for this template`)
  }
  if (given) return given.kind === 'url' ? byAddress(given, type, sources) : byAsset(given, type, sources)
  const own = header && header.type !== 'text' ? header.file : null
  if (own === null) throw invalid('template.headerMediaUrl', `is required: the header is of type ${type}`)
  return {
    type,
    mimetype: own.mimetype,
    fileName: own.fileName,
    publicUrl: null,
    attachmentId: null,
    assetId: own.assetId,
    sizeBytes: own.sizeBytes,
  }
}

type Override = { kind: 'url' | 'asset'; value: string; path: string }

/** The header file that a send gives; null if none. Throws a 400 for more than one. */
function overrideOf(use: NonNullable<SingleSendBody['template']>): Override | null {
  const given: Override[] = []
  if (use.headerAssetId !== undefined) {
    given.push({ kind: 'asset', value: use.headerAssetId, path: 'template.headerAssetId' })
  }
  if (use.headerMediaUrl !== undefined) {
    given.push({ kind: 'url', value: use.headerMediaUrl, path: 'template.headerMediaUrl' })
  }
  if (use.header !== undefined && use.header !== use.headerMediaUrl) {
    given.push({ kind: 'url', value: use.header, path: 'template.header' })
  }
  if (given.length > 1) throw invalid(given[1]!.path, `cannot be given together with ${given[0]!.path}`)
  return given[0] ?? null
}

function byAddress({ value, path }: Override, type: AttachmentType, { checkUrl }: HeaderSources) {
  const refusal = checkUrl(value)
  if (refusal) throw invalid(path, refusal)
  const fileName = nameInUrl(value) ?? type
  return {
    type,
    mimetype: mimetypeByName(type, fileName),
    fileName,
    publicUrl: value,
    attachmentId: null,
    assetId: null,
    sizeBytes: null,
  }
}

function byAsset({ value, path }: Override, type: AttachmentType, sources: HeaderSources): StoredAttachment {
  const asset = assetOf(sources.assets, value, path)
  if (asset.mediaType !== type) throw invalid(path, `is of type ${asset.mediaType}, not ${type}`)
  return {
    type,
    mimetype: asset.mimetype,
    fileName: asset.fileName,
    publicUrl: null,
    attachmentId: null,
    assetId: asset.id,
    sizeBytes: asset.size,
  }
}
