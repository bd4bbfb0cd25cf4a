import { page } from '../../contract/envelope.ts'
import { StatsQuery, StatsRow } from '../../contract/verification-stats.ts'
import type { Totals } from '../../core/fraud/totals.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/verification/stats` */
export const verificationStats = (deps: { verificationTotals: Totals }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/verification/stats',
    auth: {},
    schema: {
      summary: 'Read verification statistics',
      description:
        'Totals for the mode of the key, live or test, by the UTC day on which the verifications began. ' +
        'The newest 2,000 verifications are counted as they are now, older ones as of their last ' +
        'periodic update.',
      tags: ['Verification'],
      querystring: StatsQuery,
      response: { 200: page(StatsRow) },
    },
    handler: request => deps.verificationTotals.read(request.caller, request.query),
  })
