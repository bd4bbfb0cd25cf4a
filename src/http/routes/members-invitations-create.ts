import { success } from '../../contract/envelope.ts'
import { InvitationCreate, InvitationMade } from '../../contract/member.ts'
import type { Members } from '../../core/people/members.ts'
import { defineRoute } from '../route.ts'
import { originOf } from '../visit.ts'

/** `POST /api/v2/members/invitations` */
export const membersInvitationsCreate = (deps: { members: Members }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/members/invitations',
    auth: { ownersOnly: true },
    audit: { action: 'invitation.create', bodyFields: ['email', 'role', 'permissions'] },
    schema: {
      summary: 'Invite a person',
      description: 'The link works once, for seven days. An earlier invitation of the same address ends.',
      tags: ['Members'],
      body: InvitationCreate,
      errors: ['CONFLICT'],
      response: { 201: success(InvitationMade) },
    },
    handler: async (request, reply) => {
      const data = await deps.members.invite(request.caller, request.body, originOf(request))
      reply.code(201)
      return { success: true, data }
    },
  })
