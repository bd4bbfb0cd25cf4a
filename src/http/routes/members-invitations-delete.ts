import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import type { Members } from '../../core/people/members.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/v2/members/invitations/{id}` */
export const membersInvitationsDelete = (deps: { members: Members }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/v2/members/invitations/:id',
    auth: { ownersOnly: true },
    audit: { action: 'invitation.delete' },
    schema: {
      summary: 'Withdraw an invitation',
      tags: ['Members'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })) },
    },
    handler: async request => ({
      success: true,
      data: await deps.members.withdraw(request.caller, request.params.id),
    }),
  })
