import { Type } from 'typebox'
import { AccountUpdate, AdminAccountWithKeys } from '../../contract/admin.ts'
import { success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/admin/accounts/{id}` */
export const adminAccountsUpdate = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/admin/accounts/:id',
    auth: { operator: true },
    audit: {
      action: 'account.update',
      bodyFields: [
        'name',
        'status',
        'homeCountry',
        'currency',
        'phone',
        'plan',
        'quietHours',
        'verification',
      ],
    },
    schema: {
      summary: 'Change an account',
      description:
        'Absent fields stay unchanged. `plan.pool` replaces all pools; a pool with the same channels as ' +
        'before keeps its used messages.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: AccountUpdate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(AdminAccountWithKeys) },
    },
    handler: async request => ({
      success: true,
      data: await deps.accountAdmin.update(request.params.id, request.body),
    }),
  })
