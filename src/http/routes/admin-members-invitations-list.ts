import { page, pageQuery } from '../../contract/envelope.ts'
import { AdminInvitation } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/members/invitations` */
export const adminMembersInvitationsList = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/members/invitations',
    auth: { operator: true },
    schema: {
      summary: 'List all invitations',
      tags: ['Operator'],
      querystring: pageQuery({}),
      response: { 200: page(AdminInvitation) },
    },
    handler: request => deps.peopleAdmin.listInvitations(request.query),
  })
