import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { AdminInvitationRemoved } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/admin/members/invitations/{id}` */
export const adminMembersInvitationsDelete = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/admin/members/invitations/:id',
    auth: { operator: true },
    audit: { action: 'invitation.delete' },
    schema: {
      summary: 'Withdraw any invitation',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(AdminInvitationRemoved) },
    },
    handler: async request => ({
      success: true,
      data: await deps.peopleAdmin.withdraw(request.params.id),
    }),
  })
