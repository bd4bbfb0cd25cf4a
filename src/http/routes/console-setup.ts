import { SessionView, SetupBody } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { SignIn } from '../../core/people/sign-in.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'
import { visitOf } from '../visit.ts'

/** `POST /api/console/setup`: creates the operator’s login, if no login exists */
export const consoleSetup = (deps: { wayIn: SignIn; cookies: SessionCookies }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/setup',
    auth: { public: true, sameSite: true },
    audit: { action: 'login.setup', bodyFields: ['email', 'name'] },
    schema: {
      summary: 'Create the first login',
      description:
        'The login is an operator, and an owner of the account if there is only one, as after the first start. If ' +
        'several requests compete, one succeeds; the others get 409.',
      tags: ['Console'],
      body: SetupBody,
      errors: ['UNAUTHORIZED', 'CONFLICT', 'RATE_LIMITED'],
      headersByStatus: { 201: ['Set-Cookie'] },
      response: { 201: success(SessionView) },
    },
    handler: async (request, reply) => {
      const entered = await deps.wayIn.setUp(request.body, visitOf(request))
      deps.cookies.set(reply, entered)
      request.signedIn = entered.signedIn
      reply.code(201)
      return { success: true, data: entered.view }
    },
  })
