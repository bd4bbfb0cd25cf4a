import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MediaAsset } from '../../contract/media.ts'
import type { Media } from '../../core/media/media.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/templates/media/{assetId}`: describes an uploaded file. */
export const templatesMediaRead = (deps: { media: Media }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/templates/media/:assetId',
    auth: {},
    schema: {
      summary: 'Read an uploaded file',
      description: 'Its metadata, and the URL of its preview, which returns the bytes.',
      tags: ['Media'],
      params: Type.Object({ assetId: Type.String() }),
      response: { 200: success(MediaAsset) },
    },
    handler: async request => ({
      success: true,
      data: await deps.media.read(request.caller, request.params.assetId),
    }),
  })
