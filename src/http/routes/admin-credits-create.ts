import { Type } from 'typebox'
import { CreditCreate } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import { LedgerEntry, WalletView } from '../../contract/wallet.ts'
import type { Wallets } from '../../core/billing/wallets.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/accounts/{id}/credits` */
export const adminCreditsCreate = (deps: { wallets: Wallets }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/accounts/:id/credits',
    auth: { operator: true },
    audit: { action: 'wallet.credit', keeps: ['amount', 'note'] },
    schema: {
      summary: 'Credit a wallet',
      description: 'Answers with the wallet after it, and the entry of the ledger.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: CreditCreate,
      errors: ['NOT_FOUND'],
      response: { 201: success(Type.Object({ ...WalletView.properties, entry: LedgerEntry })) },
    },
    handler: async (request, reply) => {
      const data = await deps.wallets.credit(request.params.id, request.body)
      reply.code(201)
      return { success: true, data }
    },
  })
