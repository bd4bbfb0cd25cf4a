import { PriceRow } from '../../contract/admin.ts'
import { page, pageQuery } from '../../contract/envelope.ts'
import type { Prices } from '../../core/billing/prices.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/prices` */
export const adminPricesList = (deps: { prices: Prices }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/prices',
    auth: { operator: true },
    schema: {
      summary: 'List prices',
      tags: ['Operator'],
      querystring: pageQuery({}),
      response: { 200: page(PriceRow) },
    },
    handler: request => deps.prices.list(request.query),
  })
