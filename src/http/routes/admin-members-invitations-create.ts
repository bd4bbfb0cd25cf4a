import { success } from '../../contract/envelope.ts'
import { AdminInvitationCreate, AdminInvitationMade } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'
import { actorOf, originOf } from '../visit.ts'

/** `POST /api/admin/members/invitations` */
export const adminMembersInvitationsCreate = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/members/invitations',
    auth: { operator: true },
    audit: { action: 'invitation.create', bodyFields: ['email', 'role', 'accountId', 'permissions'] },
    schema: {
      summary: 'Invite a person to an account, or as an operator',
      description:
        'Invites to an account, for example its first owner, or as another operator. No e-mail is sent: ' +
        'pass the link on.',
      tags: ['Operator'],
      body: AdminInvitationCreate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(AdminInvitationMade) },
    },
    handler: async (request, reply) => {
      const data = await deps.peopleAdmin.invite(request.body, originOf(request), actorOf(request))
      reply.code(201)
      return { success: true, data }
    },
  })
