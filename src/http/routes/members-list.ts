import { page, pageQuery } from '../../contract/envelope.ts'
import { Member } from '../../contract/member.ts'
import type { Members } from '../../core/people/members.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/members` */
export const membersList = (deps: { members: Members }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/members',
    auth: { ownersOnly: true },
    schema: {
      summary: 'List members',
      description:
        'The people who act for the account in the console. All operations on members are for owners ' +
        'only.',
      tags: ['Members'],
      querystring: pageQuery({}),
      response: { 200: page(Member) },
    },
    handler: request => deps.members.list(request.caller, request.query),
  })
