import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { Person } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/members/{id}` */
export const adminMembersRead = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/members/:id',
    auth: { operator: true },
    schema: {
      summary: 'Read a person',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(Person) },
    },
    handler: async request => ({ success: true, data: await deps.peopleAdmin.read(request.params.id) }),
  })
