import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MediaAsset } from '../../contract/media.ts'
import type { Media } from '../../core/media/media.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/templates/media`: uploads a file for the header of a platform template. */
export const adminTemplatesMediaCreate = (deps: { media: Media }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/templates/media',
    auth: { operator: true },
    form: { files: ['file'], isFormRequired: true, keepsFile: true },
    schema: {
      summary: 'Upload a file for the platform',
      description:
        'For the `headerAssetId` of a platform template. The types and sizes of `POST ' +
        '/api/v2/templates/media` apply.',
      tags: ['Operator'],
      errors: ['CONFLICT'],
      response: { 201: success(Type.Object({ asset: MediaAsset })) },
    },
    handler(request, reply) {
      reply.code(201)
      return { success: true, data: { asset: deps.media.view(request.upload!.asset) } }
    },
  })
