import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MemberRemoved } from '../../contract/member.ts'
import type { Members } from '../../core/people/members.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/members/{id}` */
export const membersDelete = (deps: { members: Members }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/members/:id',
    auth: { ownersOnly: true },
    audit: { action: 'member.delete', responseFields: ['apiKeys'] },
    schema: {
      summary: 'Remove a member',
      description:
        'The person can no longer act for this account, on any node within a second. The login stays. ' +
        "The person's invitations end. API keys that the person created belong to the account and stay " +
        'valid; `apiKeys` lists them.',
      tags: ['Members'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(MemberRemoved) },
    },
    handler: async request => ({
      success: true,
      data: await deps.members.remove(request.caller, request.params.id),
    }),
  })
