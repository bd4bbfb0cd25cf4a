import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../contract/errors.ts'
import type { InboundReceiver, InboundRequest } from '../../contract/inbound.ts'
import { defineRoute } from '../route.ts'

type Deps = {
  inbound: InboundReceiver
  /** The URL under which providers reach this server, which signatures cover; null if not configured. */
  publicUrl: string | null
}

/** The size limit of WhatsApp's webhook calls. */
const MAX_BYTES = 3 * 1_048_576

/** `POST /webhooks/{provider}/{connectionId}` */
export const webhooksReceive = (deps: Deps) => receiveBy('POST', deps)

/** `GET /webhooks/{provider}/{connectionId}`: some gateways report deliveries by GET, in the query. */
export const webhooksReceiveByGet = (deps: Deps) => receiveBy('GET', deps)

function receiveBy(method: 'GET' | 'POST', { inbound, publicUrl }: Deps) {
  return defineRoute({
    method,
    url: '/webhooks/:provider/:connectionId',
    auth: { public: true },
    rawBody: { isExpected: ({ provider, connectionId }) => inbound.accepts(provider!, connectionId!) },
    bodyLimit: MAX_BYTES,
    schema: {
      summary: 'Receive a call from a provider',
      description:
        "Delivery receipts and inbound messages in the provider's own format, authenticated by its own " +
        'signature; updates of a bot at `/webhooks/botapp/{botId}`. The response is sent once they are ' +
        'stored.',
      tags: ['Providers'],
      params: Type.Object({ provider: Type.String(), connectionId: Type.String() }),
      errors: [
        'UNAUTHORIZED',
        'FORBIDDEN',
        'NOT_FOUND',
        'VALIDATION_ERROR',
        'PAYLOAD_TOO_LARGE',
        'SERVICE_UNAVAILABLE',
      ],
      response: {
        200: Type.String({
          contentMediaType: '*/*',
          description: 'Stored. Some connections use another status and content type.',
        }),
      },
    },
    async handler(request, reply) {
      const { provider, connectionId } = request.params
      const call = toCall(request as unknown as FastifyRequest, method, publicUrl)
      const answer = await inbound.receive(provider, connectionId, call)
      switch (answer.kind) {
        case 'unknown':
          throw new Problem('NOT_FOUND')
        case 'unauthorized':
          throw new Problem('UNAUTHORIZED', 'The call is not authenticated as one of the provider.')
        case 'forbidden':
          throw new Problem('FORBIDDEN', 'The verify token differs from that of the connection.')
        case 'malformed':
          throw new Problem('VALIDATION_ERROR', `The call is malformed: ${answer.detail}.`)
        case 'stored':
          return thank(reply, answer.reply ?? THANKS)
      }
    },
  })
}

const THANKS = { status: 200, contentType: 'text/plain; charset=utf-8', body: 'OK' }

function thank(reply: FastifyReply, { status, contentType, body }: typeof THANKS): string {
  reply.code(status).header('Content-Type', contentType)
  return body
}

function toCall(request: FastifyRequest, method: 'GET' | 'POST', publicUrl: string | null): InboundRequest {
  const path = request.raw.url!
  const mark = path.indexOf('?')
  return {
    method,
    url: publicUrl === null ? null : publicUrl + path,
    query: mark < 0 ? '' : path.slice(mark + 1),
    headers: headersOf(request),
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  }
}

function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const single = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[0]! : value,
  ])
  return Object.fromEntries(single.filter(([, value]) => value !== undefined))
}
