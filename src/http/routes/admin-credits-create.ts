import { Type } from 'typebox'
import { CreditCreate } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import { LedgerEntry, WalletView } from '../../contract/wallet.ts'
import type { Wallets } from '../../core/billing/wallets.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/accounts/{id}/credits` */
export const adminCreditsCreate = (deps: { wallets: Wallets }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/accounts/:id/credits',
    auth: { operator: true },
    audit: { action: 'wallet.credit', bodyFields: ['amount', 'note'] },
    schema: {
      summary: 'Credit a wallet',
      description:
        'Returns the wallet after the credit, and the ledger entry. With an idempotency key, repeated ' +
        'requests credit once: a repeat returns the same entry, and the wallet as it is now.',
      tags: ['Operator'],
      headers: Type.Object({
        'Idempotency-Key': Type.Optional(Type.String({ description: '1 to 200 characters' })),
      }),
      params: Type.Object({ id: Type.String() }),
      body: CreditCreate,
      errors: ['NOT_FOUND', 'IDEMPOTENCY_KEY_CONFLICT'],
      answerHeaders: ['Idempotency-Replayed'],
      response: { 201: success(Type.Object({ ...WalletView.properties, entry: LedgerEntry })) },
    },
    handler: async (request, reply) => {
      const { credited, replayed } = await deps.wallets.credit(
        request.params.id,
        request.body,
        idempotencyKeyOf(request),
      )
      if (replayed) reply.header('Idempotency-Replayed', 'true')
      reply.code(201)
      return { success: true, data: credited }
    },
  })
