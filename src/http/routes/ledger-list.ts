import { page } from '../../contract/envelope.ts'
import { LedgerEntry, LedgerQuery } from '../../contract/wallet.ts'
import type { Ledger } from '../../core/billing/ledger.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/wallet/ledger` */
export const ledgerList = (deps: { ledger: Ledger }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/wallet/ledger',
    auth: {},
    schema: {
      summary: 'List the ledger entries of the wallet',
      description:
        'Newest first, by the time of the message or credit; for one message, its capture or release ' +
        'before its hold. A page may have fewer than `limit` entries and still have a `nextCursor`.',
      tags: ['Wallet'],
      querystring: LedgerQuery,
      response: { 200: page(LedgerEntry) },
    },
    handler: request => deps.ledger.list(request.caller.account, request.query),
  })
