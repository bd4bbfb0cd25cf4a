import { Type } from 'typebox'
import { AccountCreate, AdminAccount } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/accounts` */
export const adminAccountsCreate = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/accounts',
    auth: { operator: true },
    audit: {
      action: 'account.create',
      keeps: ['name', 'homeCountry', 'currency', 'phone', 'plan', 'balance'],
    },
    schema: {
      summary: 'Create an account',
      description: 'With its wallet, pools and two owner keys with every permission, shown this once.',
      tags: ['Operator'],
      body: AccountCreate,
      response: {
        201: success(Type.Object({ account: AdminAccount, liveKey: Type.String(), testKey: Type.String() })),
      },
    },
    handler: async (request, reply) => {
      const data = await deps.accountAdmin.create(request.body)
      reply.code(201)
      return { success: true, data }
    },
  })
