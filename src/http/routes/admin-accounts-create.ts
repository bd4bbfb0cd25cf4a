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
      bodyFields: [
        'name',
        'homeCountry',
        'currency',
        'phone',
        'plan',
        'balance',
        'quietHours',
        'verification',
      ],
    },
    schema: {
      summary: 'Create an account',
      description:
        'Creates the account with its wallet, its pools and two owner keys with every permission. Only ' +
        'this response contains the keys. With an idempotency key, repeated requests create one account: ' +
        'a repeat returns it as it is now, with null instead of the keys.',
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
