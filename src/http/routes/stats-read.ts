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
      summary: 'Read how messages fare',
      description:
        'Totals by the hour or the day in which things happened: what was taken, delivered, refused and paid. Kept, not ' +
        'counted: they cost the same however many messages there are, and are exact at every moment.',
      tags: ['Messages'],
      querystring: MessageStatsQuery,
      response: { 200: success(MessageStats) },
    },
    handler: async request => ({
      success: true,
      data: await deps.messageTotals.read(request.caller, request.query),
    }),
  })
