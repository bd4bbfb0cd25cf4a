import { Type } from 'typebox'
import { PriceRow, PricesReplace } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { Prices } from '../../core/billing/prices.ts'
import { defineRoute } from '../route.ts'

/** Enough for the largest price list, with its formatting. */
const MAX_BYTES = 4 * 1_048_576

/** `PUT /api/admin/prices` */
export const adminPricesReplace = (deps: { prices: Prices }) =>
  defineRoute({
    method: 'PUT',
    url: '/api/admin/prices',
    auth: { operator: true },
    audit: { action: 'price.replace' },
    bodyLimit: MAX_BYTES,
    schema: {
      summary: 'Replace the price list',
      description:
        'Prices are per SMS part, and per message on other channels. The most specific destination ' +
        'applies (longest prefix, then country, then `*`), and within it the price of the message type ' +
        'before that of `*`.',
      tags: ['Operator'],
      body: PricesReplace,
      response: { 200: success(Type.Object({ prices: Type.Array(PriceRow) })) },
    },
    handler: async request => ({
      success: true,
      data: { prices: await deps.prices.replace(request.body.prices) },
    }),
  })
