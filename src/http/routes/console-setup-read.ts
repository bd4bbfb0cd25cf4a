import { SetupState } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { SignIn } from '../../core/people/sign-in.ts'
import { defineRoute } from '../route.ts'
import { visitOf } from '../visit.ts'

/** `GET /api/console/setup`: whether any login exists */
export const consoleSetupRead = (deps: { wayIn: SignIn }) =>
  defineRoute({
    method: 'GET',
    url: '/api/console/setup',
    auth: { public: true },
    schema: {
      summary: 'Check whether the first login is needed',
      tags: ['Console'],
      response: { 200: success(SetupState) },
    },
    handler: async request => ({ success: true, data: await deps.wayIn.setupState(visitOf(request)) }),
  })
