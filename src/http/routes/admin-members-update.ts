import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { Person, PersonUpdate } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/admin/members/{id}` */
export const adminMembersUpdate = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/admin/members/:id',
    auth: { operator: true },
    audit: { action: 'person.update', bodyFields: ['operator'] },
    schema: {
      summary: 'Make a person an operator, or end it',
      description: 'The last operator must stay one: 409.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: PersonUpdate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(Person) },
    },
    handler: async request => ({
      success: true,
      data: await deps.peopleAdmin.update(request.params.id, request.body),
    }),
  })
