import { Type } from 'typebox'
import { InboundMessageFilters } from '../../contract/inbound-message.ts'
import type { InboundMessages } from '../../core/inbound/read.ts'
import type { InboundWatch } from '../../core/inbound/watch.ts'
import { type EventStreams, sayListNews } from '../event-streams.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/inbound/events`: what people write to the account, as server-sent events. */
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
        'Server-sent events: `event: message` with a message as its data, as the list shows it, when it has come ' +
        'and fits the filters. `event: reset` says that more has come than is told: read the list. It comes ' +
        'first, unless `Last-Event-ID` is at most a minute old: then everything since follows, some of it again. ' +
        'A comment line now and then keeps the connection open. An account may have 50 of these streams open on a node.',
      tags: ['Messages'],
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(Type.String({ description: 'Where an earlier stream broke off.' })),
      }),
      querystring: InboundMessageFilters,
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
    },
    handler(request, reply) {
      const { account } = request.caller
      const filter = deps.inboundMessages.filterOf(request.query)
      const mark = request.headers['last-event-id'] as string | undefined
      return deps.eventStreams.answer(request as never, reply, {
        permission: 'messages:read',
        follow: gone => deps.inboundWatch.follow({ account, filter, mark }, gone),
        say: sayListNews,
      })
    },
  })
