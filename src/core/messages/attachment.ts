import type { AttachmentType, Channel } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Asset } from '../media/asset.ts'
import { nameInUrl } from '../media/file-name.ts'
import { FORMATS, MAX_BYTES } from '../media/formats.ts'
import { assetOf, type NamedAssets } from './assets.ts'

/** A file of a message: one that was uploaded before, a URL, or bytes in the request. */
export type AttachmentPlan = {
  type: AttachmentType
  mimetype: string
  fileName: string
  publicUrl: string | null
  bytes: Buffer | null
  asset: Asset | null
}

export type AttachmentSources = { checkUrl: CheckUrl; assets: NamedAssets | undefined }

/** Why the guarded fetch would refuse a user's URL; null if it would not. */
export type CheckUrl = (url: string) => string | null

/** For a file without a mimetype whose name has no known extension. */
const DEFAULT_MIMETYPE: Record<AttachmentType, string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  document: 'application/octet-stream',
}
const MIMETYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(;[ \t]*[a-z0-9-]+=[a-z0-9_."-]+)*$/i
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Validates the attachment of a send for its channel; null if there is none. */
export function planAttachment(
  attachment: SingleSendBody['attachment'],
  channel: Channel,
  sources: AttachmentSources,
): AttachmentPlan | null {
  if (!attachment) return null
  if (isSms(channel)) {
    throw invalid('attachment', `cannot be sent over ${channel}`)
  }
  const given = channel === 'botapp_bot' ? withoutBytes(attachment) : attachment
  return given.assetId === undefined
    ? planFile(given, channel, sources.checkUrl)
    : planAsset(given, given.assetId, sources.assets)
}

type Given = NonNullable<SingleSendBody['attachment']>

/** Bots ignore bytes, whatever they are. */
function withoutBytes({ base64: _, ...rest }: Given): Given {
  return rest
}

/** Uses the type that was detected at the upload; the request may change only the name. */
function planAsset(given: Given, id: string, assets: NamedAssets | undefined): AttachmentPlan {
  for (const other of ['publicUrl', 'base64'] as const) {
    if (given[other] !== undefined)
      throw invalid(`attachment.${other}`, 'cannot be given together with attachment.assetId')
  }
  const asset = assetOf(assets, id, 'attachment.assetId')
  // Any file can be sent as a document.
  if (given.type !== asset.mediaType && given.type !== 'document') {
    throw invalid('attachment.type', `must be ${asset.mediaType}, the type of the asset, or document`)
  }
  return {
    type: given.type,
    mimetype: asset.mimetype,
    fileName: given.fileName === undefined ? asset.fileName : fileNameOf(given),
    publicUrl: null,
    bytes: null,
    asset,
  }
}

function planFile(attachment: Given, channel: Channel, checkUrl: CheckUrl): AttachmentPlan {
  const fileName = fileNameOf(attachment)
  const mimetype = attachment.mimetype ?? mimetypeByName(attachment.type, fileName)
  if (!MIMETYPE.test(mimetype)) throw invalid('attachment.mimetype', 'must be a media type, as in image/png')
  if (isChat(channel)) checkKind(attachment.type, mimetype)
  const bytes = readBase64(attachment.base64)
  if (attachment.publicUrl === undefined && !bytes) {
    throw invalid(
      'attachment.publicUrl',
      channel === 'botapp_bot'
        ? 'is required for bot media, unless assetId is given'
        : 'is required, unless base64 or assetId is given',
    )
  }
  if (bytes && channel === 'user_chatapp_session') checkSize(attachment.type, bytes)
  const refusal = attachment.publicUrl === undefined ? null : checkUrl(attachment.publicUrl)
  if (refusal) throw invalid('attachment.publicUrl', refusal)
  return {
    type: attachment.type,
    mimetype,
    fileName,
    publicUrl: attachment.publicUrl ?? null,
    bytes: attachment.publicUrl === undefined ? bytes : null,
    asset: null,
  }
}

/** Chat apps show the file by its declared type: a voice message with another mimetype would not play. */
function checkKind(type: AttachmentType, mimetype: string): void {
  if (type !== 'document' && !mimetype.toLowerCase().startsWith(`${type}/`)) {
    throw invalid('attachment.mimetype', `must begin with ${type}/ for type ${type}`)
  }
}

function isChat(channel: Channel): boolean {
  return channel === 'user_chatapp_session' || channel === 'botapp_bot'
}

function checkSize(type: AttachmentType, bytes: Buffer): void {
  if (bytes.length > MAX_BYTES[type]) {
    throw invalid('attachment.base64', `must be at most ${MAX_BYTES[type] / 1_048_576} MB for type ${type}`)
  }
}

function readBase64(text: string | undefined): Buffer | null {
  if (text === undefined) return null
  if (text.startsWith('data:'))
    throw invalid('attachment.base64', 'must be raw base64 without a data: prefix')
  const bare = text.replace(/[\r\n]/g, '')
  if (bare === '') throw invalid('attachment.base64', 'must not be empty')
  if (bare.length % 4 !== 0 || !BASE64.test(bare))
    throw invalid('attachment.base64', 'must be base64 (RFC 4648) with padding')
  return Buffer.from(bare, 'base64')
}

/** The name of the file, without path or line breaks; if none is given, the last segment of the URL. */
function fileNameOf(attachment: Given): string {
  if (attachment.fileName !== undefined) {
    if (/[/\\\p{Cc}]/u.test(attachment.fileName)) {
      throw invalid('attachment.fileName', 'must not contain slashes or control characters')
    }
    return attachment.fileName
  }
  const named = attachment.publicUrl === undefined ? null : nameInUrl(attachment.publicUrl)
  return named ?? attachment.type
}

/** The mimetype for the extension of a name, if it fits `type`; else the default for `type`. */
export function mimetypeByName(type: AttachmentType, fileName: string): string {
  const extension = fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase()
  const known = extension === 'jpeg' ? 'jpg' : extension
  const format = FORMATS.find(each => each.extension === known)
  // Any file can be sent as a document.
  return format && (type === 'document' || format.mediaType === type)
    ? format.mimetype
    : DEFAULT_MIMETYPE[type]
}
