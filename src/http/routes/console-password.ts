import { PasswordChange, SessionView } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnLogin } from '../../core/people/own-login.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'
import { visitOf } from '../visit.ts'

/** `POST /api/console/password` */
export const consolePassword = (deps: { ownLogin: OwnLogin; cookies: SessionCookies }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/password',
    auth: { session: true },
    audit: { action: 'login.password' },
    schema: {
      summary: 'Change your password',
      description: 'Ends all other sessions and gives this one a new cookie.',
      tags: ['Console'],
      body: PasswordChange,
      errors: ['RATE_LIMITED'],
      headersByStatus: { 200: ['Set-Cookie'] },
      response: { 200: success(SessionView) },
    },
    handler: async (request, reply) => {
      const entered = await deps.ownLogin.changePassword(request.signedIn, request.body, visitOf(request))
      deps.cookies.set(reply, entered)
      request.signedIn = entered.signedIn
      return { success: true, data: entered.view }
    },
  })
