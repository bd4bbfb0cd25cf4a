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
      summary: 'Let somebody choose a new password',
      description:
        'A link that works once, for a day; their second factor ends with its use. Nothing is mailed.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 201: success(ResetMade) },
    },
    handler: async (request, reply) => {
      const data = await deps.peopleAdmin.reset(request.params.id, originOf(request), actorOf(request))
      reply.code(201)
      return { success: true, data }
    },
  })
