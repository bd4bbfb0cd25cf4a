import { Type } from 'typebox'
import { AccountCreate, AdminAccount } from '../../contract/admin.ts'
import { nullable, success } from '../../contract/envelope.ts'
import type { AccountAdmin } from '../../core/accounts/admin.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
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
      description:
        'With its wallet, pools and two owner keys with every permission, shown this once. With an idempotency key it ' +
        'is made once, however often it is asked: a repeat is answered with the account as it is now, and null for ' +
        'its keys, which nobody can read again.',
      tags: ['Operator'],
      headers: Type.Object({
        'Idempotency-Key': Type.Optional(Type.String({ description: '1 to 200 characters' })),
      }),
      body: AccountCreate,
      errors: ['IDEMPOTENCY_KEY_CONFLICT'],
      answerHeaders: ['Idempotency-Replayed'],
      response: {
        201: success(
          Type.Object({
            account: AdminAccount,
            liveKey: nullable(Type.String()),
            testKey: nullable(Type.String()),
          }),
        ),
      },
    },
    handler: async (request, reply) => {
      const key = idempotencyKeyOf(request)
      const { created, replayed } =
        key === undefined
          ? { created: await deps.accountAdmin.create(request.body), replayed: false }
          : await deps.accountAdmin.createOnce(request.body, key)
      if (replayed) reply.header('Idempotency-Replayed', 'true')
      reply.code(201)
      return { success: true, data: created }
    },
  })
