import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { InboundFile, InboundFiles } from '../../core/inbound/media.ts'
import { abortWhenGone } from '../client-gone.ts'
import { contentDisposition } from '../content-disposition.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/inbound/{inboundId}/media/{index}`: a file of an inbound message. */
export const inboundMedia = (deps: { inboundFiles: InboundFiles }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/inbound/:inboundId/media/:index',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Download a file of an inbound message',
      description:
        'The bytes come from the provider: they are not stored here, and providers delete files after ' +
        'days or weeks.',
      tags: ['Messages'],
      params: Type.Object({
        inboundId: Type.String(),
        index: Type.String({ pattern: '^[0-9]$', description: "Index in the message's `media`, from 0" }),
      }),
      response: {
        200: Type.String({ contentMediaType: '*/*', description: 'The file.' }),
      },
      headersByStatus: { 200: ['Content-Disposition'] },
      errors: ['NOT_FOUND', 'RATE_LIMITED', 'PROVIDER_UNAVAILABLE'],
    },
    async handler(request, reply) {
      const { inboundId, index } = request.params
      // If the client disconnects, the request to the provider is aborted, which frees its place.
      const { signal } = abortWhenGone(request, reply)
      const file = await deps.inboundFiles.open(request.caller, inboundId, Number(index), signal)
      describe(reply, file)
      return reply.send(file.bytes)
    },
  })

/** The file is not trusted: a browser saves it instead of showing it, and runs none of it. */
function describe(reply: FastifyReply, { mimetype, fileName }: InboundFile): void {
  reply.headers({
    'Content-Type': mimetype !== null && MIMETYPE.test(mimetype) ? mimetype : 'application/octet-stream',
    'Content-Disposition': contentDisposition('attachment', fileName ?? 'file'),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'private, no-store',
  })
}

/** A media type of RFC 9110, with simple parameters such as a codec. */
const MIMETYPE = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/
