import { Type } from 'typebox'
import { InboundMessageFilters } from '../../contract/inbound-message.ts'
import type { InboundMessages } from '../../core/inbound/read.ts'
import type { InboundWatch } from '../../core/inbound/watch.ts'
import { type EventStreams, formatListEvent } from '../event-streams.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/inbound/events`: the account's inbound messages, as server-sent events. */
export const inboundEvents = (deps: {
  inboundMessages: InboundMessages
  inboundWatch: InboundWatch
  eventStreams: EventStreams
}) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/inbound/events',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Follow inbound messages',
      description:
        'Server-sent events. `event: message` carries a message that matches the filters, in the form of ' +
        'the list, as soon as it is stored. `event: reset` means that some messages are not in the ' +
        'stream: read the list. A stream begins with `reset` unless `Last-Event-ID` is at most a minute ' +
        'old; in that case it continues from there and may repeat some events. Comment lines keep the ' +
        'connection alive. An account may have 50 of these streams open per node.',
      tags: ['Messages'],
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(
          Type.String({ description: 'The id of the last event received, to continue an earlier stream.' }),
        ),
      }),
      querystring: InboundMessageFilters,
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
    },
    handler(request, reply) {
      const { account } = request.caller
      const filter = deps.inboundMessages.filterOf(request.query)
      const cursor = request.headers['last-event-id'] as string | undefined
      return deps.eventStreams.answer(request as never, reply, {
        permission: 'messages:read',
        follow: gone => deps.inboundWatch.follow({ account, filter, cursor }, gone),
        format: formatListEvent,
      })
    },
  })
