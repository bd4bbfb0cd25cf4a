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
      summary: 'List the movements of the wallet',
      description:
        'By the time of the message or credit, the newest first; of a message its capture or release, then its ' +
        'hold. A page may be shorter than `limit` and still have a next one.',
      tags: ['Wallet'],
      querystring: LedgerQuery,
      response: { 200: page(LedgerEntry) },
    },
    handler: request => deps.ledger.list(request.caller.account, request.query),
  })
