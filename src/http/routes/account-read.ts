import { AccountView } from '../../contract/account.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountReader } from '../../core/accounts/reader.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/account` */
export const accountRead = (deps: { account: AccountReader }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/account',
    auth: {},
    schema: {
      summary: 'Read the account',
      description: "The key's account with its current plan and wallet, its sender names, and the key.",
      tags: ['Account'],
      response: { 200: success(AccountView) },
    },
    handler: async request => ({ success: true, data: await deps.account.read(request.caller) }),
  })
