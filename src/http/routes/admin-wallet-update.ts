import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { WalletUpdate, WalletWithThreshold } from '../../contract/wallet.ts'
import type { Wallets } from '../../core/billing/wallets.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/admin/accounts/{id}/wallet` */
export const adminWalletUpdate = (deps: { wallets: Wallets }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/admin/accounts/:id/wallet',
    auth: { operator: true },
    audit: { action: 'wallet.update', bodyFields: ['lowBalance'] },
    schema: {
      summary: 'Set the low-balance threshold of an account',
      description: "The threshold that the account's owner may set by `PATCH /api/v2/wallet`.",
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: WalletUpdate,
      errors: ['NOT_FOUND'],
      response: { 200: success(WalletWithThreshold) },
    },
    handler: async request => ({
      success: true,
      data: await deps.wallets.update(request.params.id, request.body),
    }),
  })
