import { SandboxPage, SandboxQuery } from '../../contract/sandbox.ts'
import type { SandboxMessages } from '../../core/sandbox/messages.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/sandbox/messages`: what the sandbox took from the account. */
export const sandboxMessagesList = (deps: { sandboxMessages: SandboxMessages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/sandbox/messages',
    auth: {},
    schema: {
      summary: 'Read what the sandbox took',
      description:
        'Messages of the account that the sandbox took from test and live keys, newest first, one-time codes ' +
        'included; hence for test keys alone. Kept for seven days, and at most 10,000 of an account.',
      tags: ['Sandbox'],
      querystring: SandboxQuery,
      response: { 200: SandboxPage },
    },
    handler: request => deps.sandboxMessages.list(request.caller, request.query),
  })
