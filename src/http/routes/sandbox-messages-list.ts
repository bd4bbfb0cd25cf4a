import { SandboxPage, SandboxQuery } from '../../contract/sandbox.ts'
import type { SandboxMessages } from '../../core/sandbox/messages.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/sandbox/messages`: the account's messages that the sandbox accepted. */
export const sandboxMessagesList = (deps: { sandboxMessages: SandboxMessages }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/sandbox/messages',
    auth: {},
    schema: {
      summary: 'List the messages in the sandbox',
      description:
        "The account's messages that the sandbox accepted from test and live keys, newest first. " +
        'One-time codes are not masked, so only test keys may read them. Stored for seven days, at most ' +
        '10,000 per account.',
      tags: ['Sandbox'],
      querystring: SandboxQuery,
      response: { 200: SandboxPage },
    },
    handler: request => deps.sandboxMessages.list(request.caller, request.query),
  })
