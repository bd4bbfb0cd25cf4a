import { Type } from 'typebox'
import { page, pageQuery } from '../../contract/envelope.ts'
import { Person } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/members` */
export const adminMembersList = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/members',
    auth: { operator: true },
    schema: {
      summary: 'List people',
      description: 'All people with a login, newest first.',
      tags: ['Operator'],
      querystring: pageQuery({
        accountId: Type.Optional(Type.String({ maxLength: 40 })),
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 254, description: 'Part of an e-mail address or a name' }),
        ),
      }),
      response: { 200: page(Person) },
      errors: ['NOT_FOUND'],
    },
    handler: request => deps.peopleAdmin.list(request.query),
  })
