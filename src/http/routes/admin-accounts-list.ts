import { Type } from 'typebox'
import { AdminAccount } from '../../contract/admin.ts'
import { page, pageQuery } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/accounts` */
export const adminAccountsList = (deps: { accountAdmin: AccountAdmin }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/accounts',
    auth: { operator: true },
    schema: {
      summary: 'List accounts',
      description: 'Newest first.',
      tags: ['Operator'],
      querystring: pageQuery({
        q: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 254,
            description: 'Part of a name, or the id of an account',
          }),
        ),
      }),
      response: { 200: page(AdminAccount) },
    },
    handler: request => deps.accountAdmin.list(request.query),
  })
