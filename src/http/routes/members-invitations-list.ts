import { page, pageQuery } from '../../contract/envelope.ts'
import { Invitation } from '../../contract/member.ts'
import type { Members } from '../../core/people/members.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/members/invitations` */
export const membersInvitationsList = (deps: { members: Members }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/members/invitations',
    auth: { ownersOnly: true },
    schema: {
      summary: 'List invitations',
      tags: ['Members'],
      querystring: pageQuery({}),
      response: { 200: page(Invitation) },
    },
    handler: request => deps.members.listInvitations(request.caller, request.query),
  })
