import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Media } from '../../core/media/media.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/templates/media/{assetId}`: deletes an uploaded file. */
export const templatesMediaDelete = (deps: { media: Media }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/templates/media/:assetId',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Delete an uploaded file',
      description:
        'Refused while a template uses the file or a waiting message carries it. Unused files are ' +
        'deleted automatically some time after their last use.',
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
