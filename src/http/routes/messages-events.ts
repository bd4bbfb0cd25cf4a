import { Type } from 'typebox'
import { MessageFilters } from '../../contract/message.ts'
import type { Messages } from '../../core/messages/read.ts'
import type { MessageWatch } from '../../core/messages/watch.ts'
import { type EventStreams, formatListEvent } from '../event-streams.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/events`: the account's messages after each change, as server-sent events. */
export const messagesEvents = (deps: {
  messages: Messages
  messageWatch: MessageWatch
  eventStreams: EventStreams
}) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/events',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Follow messages',
      description:
        'Server-sent events. `event: message` carries a message that matches the filters, in the form of ' +
        'the list, when it is accepted and at each change; of several changes within a second, the last. ' +
        '`event: reset` means that some changes are not in the stream: read the list. A stream begins ' +
        'with `reset` unless `Last-Event-ID` is at most a minute old; in that case it continues from ' +
        'there and may repeat some events. Comment lines keep the connection alive. An account may have ' +
        '50 streams open per node.',
      tags: ['Messages'],
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(
          Type.String({ description: 'The id of the last event received, to continue an earlier stream.' }),
        ),
      }),
      querystring: MessageFilters,
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
    },
    handler(request, reply) {
      const { account } = request.caller
      const filter = deps.messages.filterOf(request.query)
      const cursor = request.headers['last-event-id'] as string | undefined
      return deps.eventStreams.answer(request as never, reply, {
        permission: 'messages:read',
        follow: gone => deps.messageWatch.follow({ account, filter, cursor }, gone),
        format: formatListEvent,
      })
    },
  })
