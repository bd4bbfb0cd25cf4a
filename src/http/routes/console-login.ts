import { LoginBody, SessionView } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { SignIn } from '../../core/people/sign-in.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'
import { visitOf } from '../visit.ts'

/** `POST /api/console/login` */
export const consoleLogin = (deps: { wayIn: SignIn; cookies: SessionCookies }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/login',
    auth: { public: true, sameSite: true },
    audit: { action: 'login.enter' },
    schema: {
      summary: 'Sign in',
      description:
        'Sets the session cookie. TOTP_REQUIRED: send the code of the second factor with the same ' +
        'password. Every other error is UNAUTHORIZED, whichever field is wrong.',
      tags: ['Console'],
      body: LoginBody,
      errors: ['UNAUTHORIZED', 'TOTP_REQUIRED', 'RATE_LIMITED'],
      headersByStatus: { 200: ['Set-Cookie'] },
      response: { 200: success(SessionView) },
    },
    handler: async (request, reply) => {
      const entered = await deps.wayIn.logIn(request.body, visitOf(request))
      deps.cookies.set(reply, entered)
      request.signedIn = entered.signedIn
      return { success: true, data: entered.view }
    },
  })
