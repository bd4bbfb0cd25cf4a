import { success } from '../../contract/envelope.ts'
import { MessageStats, MessageStatsQuery } from '../../contract/stats.ts'
import type { MessageTotals } from '../../core/overview/totals.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/stats` */
export const statsRead = (deps: { messageTotals: MessageTotals }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/stats',
    auth: {},
    schema: {
      summary: 'Read message statistics',
      description:
        'Totals per hour or day, by the time at which messages were accepted by a provider, delivered, ' +
        'rejected or paid. They are exact at every moment, and cost the same to read for any number of ' +
        'messages.',
      tags: ['Messages'],
      querystring: MessageStatsQuery,
      response: { 200: success(MessageStats) },
    },
    handler: async request => ({
      success: true,
      data: await deps.messageTotals.read(request.caller, request.query),
    }),
  })
