import type { AttachmentType, Channel } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'

/** A file of a message: by address, or by the bytes that came with the request. */
export type AttachmentPlan = {
  type: AttachmentType
  mimetype: string
  fileName: string
  publicUrl: string | null
  bytes: Buffer | null
}

/** Why a user's address cannot be fetched, or null; the guarded client knows. */
export type CheckUrl = (url: string) => string | null

const DEFAULT_MIMETYPE: Record<AttachmentType, string> = {
  image: 'image/jpeg',
  video: 'video/mp4',
  audio: 'audio/mpeg',
  document: 'application/octet-stream',
}
const MIMETYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(;\s*[a-z0-9-]+=[a-z0-9_."-]+)*$/i
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Validates the attachment of a send for its channel; null when there is none. */
export function planAttachment(
  attachment: SingleSendBody['attachment'],
  channel: Channel,
  checkUrl: CheckUrl,
): AttachmentPlan | null {
  if (!attachment) return null
  if (isSms(channel) || channel === 'official_chatapp') {
    throw invalid('attachment', `is not carried by ${channel}`)
  }
  if (attachment.assetId !== undefined) throw new Problem('NOT_FOUND', 'attachment.assetId: asset not found')
  const mimetype = attachment.mimetype ?? DEFAULT_MIMETYPE[attachment.type]
  if (!MIMETYPE.test(mimetype)) throw invalid('attachment.mimetype', 'must be a media type, as in image/png')
  // Bots fetch the address themselves and ignore bytes.
  const bytes = channel === 'botapp_bot' ? null : readBase64(attachment.base64)
  if (attachment.publicUrl === undefined && !bytes) {
    throw invalid(
      'attachment.publicUrl',
      channel === 'botapp_bot' ? 'is required for bot media' : 'or base64 is required',
    )
  }
  const refusal = attachment.publicUrl === undefined ? null : checkUrl(attachment.publicUrl)
  if (refusal) throw invalid('attachment.publicUrl', refusal)
  return {
    type: attachment.type,
    mimetype,
    fileName: fileNameOf(attachment),
    publicUrl: attachment.publicUrl ?? null,
    bytes: attachment.publicUrl === undefined ? bytes : null,
  }
}

function readBase64(text: string | undefined): Buffer | null {
  if (text === undefined) return null
  if (text.startsWith('data:'))
    throw invalid('attachment.base64', 'must be raw base64 without a data: prefix')
  const bare = text.replace(/[\r\n]/g, '')
  if (bare.length % 4 !== 0 || !BASE64.test(bare))
    throw invalid('attachment.base64', 'must be base64 (RFC 4648) with padding')
  return Buffer.from(bare, 'base64')
}

/** A name without path or line breaks; the address' last segment where none is given. */
function fileNameOf(attachment: NonNullable<SingleSendBody['attachment']>): string {
  if (attachment.fileName !== undefined) {
    if (/[/\\\p{Cc}]/u.test(attachment.fileName)) {
      throw invalid('attachment.fileName', 'must not contain slashes or control characters')
    }
    return attachment.fileName
  }
  const path = attachment.publicUrl === undefined ? '' : URL.parse(attachment.publicUrl)?.pathname
  const last = path
    ?.split('/')
    .pop()
    ?.replace(/[^\w.-]/g, '')
  return last ? last.slice(-100) : attachment.type
}
