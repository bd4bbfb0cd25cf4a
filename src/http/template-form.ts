import { Type } from 'typebox'
import { invalid } from '../contract/errors.ts'
import { TemplateCreate } from '../contract/template-create.ts'
import { readObject, toBody } from './form-body.ts'
import type { FormSpec, Upload } from './route.ts'

/** A template as a form: any of its fields as JSON in `payload`, or each in a field of its own, and its header's file. */
export const TEMPLATE_FORM: FormSpec = {
  files: ['headerMedia', 'file'],
  fields: {
    payload: Type.Optional(
      Type.String({
        description: 'Any of the fields as one JSON object; separate form fields take precedence',
      }),
    ),
  },
  toBody: readTemplateForm,
}

function readTemplateForm(fields: ReadonlyMap<string, string>): unknown {
  const { payload, ...beside } = toBody(fields, TemplateCreate)
  return typeof payload === 'string' ? { ...readObject('payload', payload), ...beside } : beside
}

/** The body of a create with the file that came beside it in its place. Throws a 400 where it brings another one too. */
export function withHeaderFile(body: TemplateCreate, upload: Upload | null): TemplateCreate {
  if (!upload) return body
  const { field, asset } = upload
  if (body.headerAssetId !== undefined || body.headerMediaUrl !== undefined) {
    throw invalid(field, 'must not be combined with headerAssetId or headerMediaUrl')
  }
  if (asset.mediaType === 'audio') throw invalid(field, 'must be an image, a video or a document')
  if (body.headerType !== undefined && body.headerType !== asset.mediaType) {
    throw invalid(
      field,
      `must be of the headerType ${body.headerType}; the file is of type ${asset.mediaType}`,
    )
  }
  return { ...body, headerType: asset.mediaType, headerAssetId: asset.id }
}
