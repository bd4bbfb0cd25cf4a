import { success } from '../../contract/envelope.ts'
import { WalletWithThreshold } from '../../contract/wallet.ts'
import type { Wallets } from '../../core/billing/wallets.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/wallet` */
export const walletRead = (deps: { wallets: Wallets }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/wallet',
    auth: {},
    schema: {
      summary: 'Read the wallet',
      description: 'At every moment `balance + held + captured = credited`.',
      tags: ['Wallet'],
      response: { 200: success(WalletWithThreshold) },
    },
    handler: async request => ({ success: true, data: await deps.wallets.read(request.caller.account.id) }),
  })
