import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { ResetMade } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'
import { actorOf, originOf } from '../visit.ts'

/** `POST /api/admin/members/{id}/reset` */
export const adminMembersReset = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/members/:id/reset',
    auth: { operator: true },
    audit: { action: 'person.reset', target: 'id' },
    schema: {
      summary: 'Create a password reset link',
      description:
        "The link works once, for a day. Its use also removes the person's second factor. No e-mail is " +
        'sent: pass the link on.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 201: success(ResetMade) },
    },
    handler: async (request, reply) => {
      const data = await deps.peopleAdmin.createResetLink(
        request.params.id,
        originOf(request),
        actorOf(request),
      )
      reply.code(201)
      return { success: true, data }
    },
  })
