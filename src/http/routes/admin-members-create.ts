import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MembershipCreate, Person } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/members` */
export const adminMembersCreate = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/members',
    auth: { operator: true },
    audit: { action: 'member.create', bodyFields: ['userId', 'accountId', 'role', 'permissions'] },
    schema: {
      summary: 'Make a person a member of an account',
      description: 'The person must have a login; invite others.',
      tags: ['Operator'],
      body: MembershipCreate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 201: success(Type.Object({ member: Person })) },
    },
    handler: async (request, reply) => {
      const member = await deps.peopleAdmin.setMembership(request.body)
      reply.code(201)
      return { success: true, data: { member } }
    },
  })
