import { Type } from 'typebox'
import { MessageFilters } from '../../contract/message.ts'
import type { Messages } from '../../core/messages/read.ts'
import type { MessageWatch } from '../../core/messages/watch.ts'
import { type EventStreams, sayListNews } from '../event-streams.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/events`: the account's messages at each change, as server-sent events. */
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
        'Server-sent events: `event: message` with a message as its data, as the list shows it, when it is ' +
        'accepted and at each change, for those that fit the filters then; of several steps within a second ' +
        'the last. `event: reset` says that more has happened than is told: read the list. It comes first, ' +
        'unless `Last-Event-ID` is at most a minute old: then everything since follows, some of it again. ' +
        'A comment line now and then keeps the connection open. An account may have 50 streams open on a node.',
      tags: ['Messages'],
      headers: Type.Object({
        'Last-Event-ID': Type.Optional(Type.String({ description: 'Where an earlier stream broke off.' })),
      }),
      querystring: MessageFilters,
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
    },
    handler(request, reply) {
      const { account } = request.caller
      const filter = deps.messages.filterOf(request.query)
      const mark = request.headers['last-event-id'] as string | undefined
      return deps.eventStreams.answer(request as never, reply, {
        permission: 'messages:read',
        follow: gone => deps.messageWatch.follow({ account, filter, mark }, gone),
        say: sayListNews,
      })
    },
  })
