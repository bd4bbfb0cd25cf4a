import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { MemberRemoved } from '../../contract/member.ts'
import type { PeopleAdmin } from '../../core/people/people-admin.ts'
import { defineRoute } from '../route.ts'

/** `DELETE /api/admin/members/{id}` */
export const adminMembersDelete = (deps: { peopleAdmin: PeopleAdmin }) =>
  defineRoute({
    method: 'DELETE',
    url: '/api/admin/members/:id',
    auth: { operator: true },
    audit: { action: 'person.delete', responseFields: ['apiKeys'] },
    schema: {
      summary: 'Remove a login',
      description:
        "Also removes the person's sessions, memberships and invitations. API keys that the person " +
        'created stay valid; `apiKeys` lists them. The last operator cannot be removed: 409.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      querystring: Type.Object({
        accountId: Type.Optional(
          Type.String({ maxLength: 40, description: 'Removes only the membership of this account' }),
        ),
      }),
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(MemberRemoved) },
    },
    handler: async request => {
      const { accountId } = request.query
      const { removed, left } = await deps.peopleAdmin.remove(request.params.id, accountId)
      if (accountId === undefined) {
        // Each with the keys of its own: what the person made elsewhere is not an account's business.
        request.alsoAudited = left.map(id => ({
          accountId: id,
          changes: { apiKeys: removed.apiKeys.filter(key => key.accountId === id) },
        }))
      }
      return { success: true, data: removed }
    },
  })
