import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Media } from '../../core/media/media.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/templates/media/{assetId}`: takes an uploaded file away. */
export const templatesMediaDelete = (deps: { media: Media }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/templates/media/:assetId',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Delete an uploaded file',
      description:
        'Not while a template shows it, or a message that waits is to carry it. ' +
        'What nobody needs goes by itself some time after its last use.',
      tags: ['Media'],
      params: Type.Object({ assetId: Type.String() }),
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
      errors: ['CONFLICT'],
    },
    async handler(request) {
      await deps.media.remove(request.caller, request.params.assetId)
      return { success: true, data: { id: request.params.assetId, deleted: true } }
    },
  })
