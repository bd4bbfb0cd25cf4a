import { Type } from 'typebox'
import { AdminAccountWithKeys } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/accounts/{id}` */
export const adminAccountsRead = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/accounts/:id',
    auth: { operator: true },
    schema: {
      summary: 'Read an account and its keys',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(AdminAccountWithKeys) },
    },
    handler: async request => ({ success: true, data: await deps.accountAdmin.read(request.params.id) }),
  })
