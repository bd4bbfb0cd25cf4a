import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Problem } from '../../contract/errors.ts'
import type { Asset } from '../../core/media/asset.ts'
import type { Media } from '../../core/media/media.ts'
import type { ByteRange } from '../../infra/file-store.ts'
import { readRange } from '../byte-range.ts'
import { contentDisposition } from '../content-disposition.ts'
import { defineRoute } from '../route.ts'

const FILE_HEADERS = ['ETag', 'Accept-Ranges', 'Content-Disposition'] as const

/** `GET /media/{assetId}`: the file, for anyone who has its URL. */
export const templatesMediaContent = (deps: { media: Media }) =>
  defineRoute({
    method: 'GET',
    url: '/media/:assetId',
    // An image in a page is requested without a key: the URL contains a token. Not below /api, which needs keys.
    auth: { public: true },
    schema: {
      summary: 'Preview an uploaded file',
      description:
        'The URL in `previewUrl`, which is valid for about a day. A `Range` of several parts is ignored, as is one whose ' +
        '`If-Range` is not the current `ETag`.',
      tags: ['Media'],
      headers: Type.Object({
        Range: Type.Optional(Type.String({ description: 'One part of the file, such as `bytes=0-99`' })),
        'If-Range': Type.Optional(Type.String({ description: 'The `ETag` of the file that the part is of' })),
        'If-None-Match': Type.Optional(
          Type.String({ description: 'The `ETag` of a file that the client has' }),
        ),
      }),
      params: Type.Object({ assetId: Type.String() }),
      querystring: Type.Object({ token: Type.String({ minLength: 1, maxLength: 100 }) }),
      response: {
        200: Type.String({ contentMediaType: '*/*', description: 'The file.' }),
        206: Type.String({ contentMediaType: '*/*', description: 'The requested range of the file.' }),
        304: Type.Null({ description: 'The file is unchanged: `If-None-Match` names its current `ETag`.' }),
      },
      headersByStatus: {
        200: FILE_HEADERS,
        206: [...FILE_HEADERS, 'Content-Range'],
        304: ['ETag'],
        416: ['Content-Range'],
      },
      errors: ['RANGE_NOT_SATISFIABLE', 'SERVICE_UNAVAILABLE'],
    },
    async handler(request, reply) {
      const asset = await deps.media.preview(request.params.assetId, request.query.token)
      const etag = `"${asset.sha256.toString('hex')}"`
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).header('ETag', etag).send()
      const range = isFresh(request.headers['if-range'], etag)
        ? readRange(request.headers.range, asset.size)
        : null
      if (range === 'unsatisfiable') {
        reply.header('Content-Range', `bytes */${asset.size}`)
        throw new Problem('RANGE_NOT_SATISFIABLE')
      }
      const bytes = await open(deps.media, asset, range)
      describe(reply, asset, etag)
      if (range) reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${asset.size}`)
      reply.header('Content-Length', range ? range.end - range.start + 1 : asset.size)
      return reply.send(bytes)
    },
  })

/** The file is not trusted: a browser may show it, but must not guess its type or run any of it. */
function describe(reply: FastifyReply, asset: Asset, etag: string): void {
  reply.headers({
    'Content-Type': asset.mimetype === 'text/plain' ? 'text/plain; charset=utf-8' : asset.mimetype,
    'Content-Disposition': disposition(asset),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    // The URL is stable for an hour, and its content never changes.
    'Cache-Control': 'private, max-age=3600, immutable',
    'Accept-Ranges': 'bytes',
    ETag: etag,
  })
}

/** Documents are downloaded, because a viewer may run their scripts. */
function disposition({ mediaType, fileName }: Asset): string {
  return contentDisposition(mediaType === 'document' ? 'attachment' : 'inline', fileName)
}

/** `If-None-Match` may list several tags. A proxy that compresses the file has made its tag a weak one. */
function isKnown(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').some(tag => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

function isFresh(condition: string | string[] | undefined, etag: string): boolean {
  return condition === undefined || condition === etag
}

/**
 * Waits for the first byte: until then a failure can be the response. It fails if the file is missing, its store is
 * unavailable or breaks off, or it is on another node's disk.
 */
async function open(media: Media, asset: Asset, range: ByteRange | null): Promise<Readable> {
  try {
    const bytes = await media.open(asset, range ?? undefined)
    await once(bytes, 'readable')
    return bytes
  } catch (cause) {
    throw new Problem('SERVICE_UNAVAILABLE', 'The file cannot be read right now.', { cause })
  }
}
