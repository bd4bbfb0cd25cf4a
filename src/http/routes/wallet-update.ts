import { success } from '../../contract/envelope.ts'
import { WalletUpdate, WalletWithThreshold } from '../../contract/wallet.ts'
import type { Wallets } from '../../core/billing/wallets.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/v2/wallet` */
export const walletUpdate = (deps: { wallets: Wallets }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/v2/wallet',
    auth: { permission: 'messages:create', ownersOnly: true },
    audit: { action: 'wallet.update', bodyFields: ['lowBalance'] },
    schema: {
      summary: 'Set the low-balance threshold',
      description:
        'For owners only. When the balance falls below the threshold, webhook endpoints get ' +
        '`wallet.low`.',
      tags: ['Wallet'],
      body: WalletUpdate,
      response: { 200: success(WalletWithThreshold) },
    },
    handler: async request => ({
      success: true,
      data: await deps.wallets.update(request.caller.account.id, request.body),
    }),
  })
