import { InvitationAccept, InvitationAccepted } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { Invitations } from '../../core/people/invitations.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'
import { visitOf } from '../visit.ts'

/** `POST /api/console/invitations/accept` */
export const consoleInvitationsAccept = (deps: { invitations: Invitations; cookies: SessionCookies }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/invitations/accept',
    auth: { public: true, sameSite: true },
    audit: { action: 'invitation.accept', bodyFields: ['name'] },
    schema: {
      summary: 'Accept an invitation',
      description:
        'Also signs in. A person who has a login gives its password; others choose a password and a ' +
        'name. A link works once.',
      tags: ['Console'],
      body: InvitationAccept,
      errors: ['UNAUTHORIZED', 'TOTP_REQUIRED', 'NOT_FOUND', 'RATE_LIMITED'],
      headersByStatus: { 200: ['Set-Cookie'] },
      response: { 200: success(InvitationAccepted) },
    },
    handler: async (request, reply) => {
      const entered = await deps.invitations.accept(request.body, visitOf(request))
      deps.cookies.set(reply, entered)
      request.signedIn = entered.signedIn
      request.joinedAccountId = entered.joined
      return { success: true, data: { ...entered.view, joined: entered.joined } }
    },
  })
