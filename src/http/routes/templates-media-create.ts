import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MediaAsset } from '../../contract/media.ts'
import type { Media } from '../../core/media/media.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/templates/media`: uploads a file for template headers and attachments. */
export const templatesMediaCreate = (deps: { media: Media }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/templates/media',
    auth: { permission: 'messages:create' },
    form: { files: ['file'], isFormRequired: true, keepsFile: true },
    schema: {
      summary: 'Upload a file',
      description:
        'For `headerAssetId` and `attachment.assetId`. The type is detected from the bytes and must ' +
        'match the declared type. At most 16 MB for an image, video or audio file, 100 MB for a ' +
        'document.',
      tags: ['Media'],
      errors: ['CONFLICT'],
      response: { 201: success(Type.Object({ asset: MediaAsset })) },
    },
    handler(request, reply) {
      reply.code(201)
      return { success: true, data: { asset: deps.media.view(request.upload!.asset) } }
    },
  })
