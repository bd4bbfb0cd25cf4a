import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { ProviderMessagePolicy } from '../../contract/message.ts'
import type { Policies } from '../../core/routing/policies.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/policies`: the policy of each connection. */
export const messagesPolicies = (deps: { policies: Policies }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/policies',
    auth: { permission: 'messages:create' },
    schema: {
      summary: 'Read the provider message policies',
      description: 'One entry per connection and channel, in the order in which they are tried.',
      tags: ['Messages'],
      response: { 200: success(Type.Array(ProviderMessagePolicy)) },
    },
    handler: async request => ({ success: true, data: await deps.policies.list(request.caller) }),
  })
