import { Type } from 'typebox'
import { invalid, type Problem } from '../contract/errors.ts'
import { SendBody } from '../contract/send.ts'
import { toBody } from './form-body.ts'
import type { FormSpec, Upload } from './route.ts'

const FILE_FIELD = 'headerMedia'
const MEDIA_TYPES = ['image', 'video', 'document'] as const

/** A send as a form: the fields of its body, and the file above its template. */
export const SEND_FORM: FormSpec = {
  files: [FILE_FIELD],
  fields: {
    mediaType: Type.Optional(
      Type.Enum(MEDIA_TYPES, { description: 'The type of headerMedia, same as template.headerMediaType' }),
    ),
  },
  toBody: readSendForm,
}

function readSendForm(fields: ReadonlyMap<string, string>): unknown {
  const { mediaType, ...body } = toBody(fields, SendBody)
  if (mediaType === undefined) return body
  if (!MEDIA_TYPES.some(known => known === mediaType)) {
    throw invalid('mediaType', `must be one of ${MEDIA_TYPES.join(', ')}`)
  }
  const { template } = body
  // What is no object fails the schema as it stands.
  if (typeof template !== 'object' || template === null) return body
  return { ...body, template: { headerMediaType: mediaType, ...template } }
}

type Given = { body: SendBody; fault: Problem | null; upload: Upload | null }

/**
 * The body of a send with the file that came beside it in its place, and what
 * tells the request apart under its key: the file by its bytes, since each
 * repeat of the request stores it anew.
 */
export function withHeaderMedia({ body, fault, upload }: Given): {
  body: SendBody
  fault: Problem | null
  identity?: unknown
} {
  if (!upload) return { body, fault }
  const { sha256, fileName } = upload.asset
  const identity = { ...body, [FILE_FIELD]: { sha256: sha256.toString('hex'), fileName } }
  const refusal = fault ?? refuseHeaderMedia(body, upload) ?? upload.refusal
  if (refusal) return { body, fault: refusal, identity }
  return {
    body: { ...body, template: { ...body.template, headerAssetId: upload.asset.id } },
    fault,
    identity,
  }
}

function refuseHeaderMedia({ template }: SendBody, { asset }: Upload): Problem | null {
  if (!template) return invalid('template', `is required with ${FILE_FIELD}`)
  const { headerAssetId, headerMediaUrl, header, headerMediaType } = template
  if (headerAssetId !== undefined || headerMediaUrl !== undefined || header !== undefined) {
    return invalid(FILE_FIELD, 'must not be combined with another header file in template')
  }
  if (headerMediaType !== undefined && headerMediaType !== asset.mediaType) {
    return invalid(FILE_FIELD, `must be of type ${headerMediaType}; the file is of type ${asset.mediaType}`)
  }
  return null
}
