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
      summary: 'Read how verifications fare',
      description:
        "Totals of the key's own mode, live or test, by the UTC day on which verifications began. A live key's are " +
        'a few seconds old at most while a verification is young, and a quarter of its age later.',
      tags: ['Verification'],
      querystring: StatsQuery,
      response: { 200: page(StatsRow) },
    },
    handler: request => deps.verificationTotals.read(request.caller, request.query),
  })
