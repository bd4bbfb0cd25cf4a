import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { Member, MemberUpdate } from '../../contract/member.ts'
import type { Members } from '../../core/people/members.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/v2/members/{id}` */
export const membersUpdate = (deps: { members: Members }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/v2/members/:id',
    auth: { ownersOnly: true },
    audit: { action: 'member.update', bodyFields: ['role', 'permissions'] },
    schema: {
      summary: 'Change the role and permissions of a member',
      description:
        'Every node applies it within a second. The last owner must stay one: 409. A key that expires cannot ' +
        'give more rights, which the person would keep: 403.',
      tags: ['Members'],
      params: Type.Object({ id: Type.String() }),
      body: MemberUpdate,
      errors: ['NOT_FOUND', 'CONFLICT'],
      response: { 200: success(Member) },
    },
    handler: async request => ({
      success: true,
      data: await deps.members.update(request.caller, request.params.id, request.body),
    }),
  })
