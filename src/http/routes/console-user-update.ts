import { SessionView, UserUpdate } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnLogin } from '../../core/people/own-login.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/console/user` */
export const consoleUserUpdate = (deps: { ownLogin: OwnLogin }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/console/user',
    auth: { session: true },
    audit: { action: 'login.update', bodyFields: ['name'] },
    schema: {
      summary: 'Change your name',
      tags: ['Console'],
      body: UserUpdate,
      response: { 200: success(SessionView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.ownLogin.update(request.signedIn, request.body),
    }),
  })
