import { InvitationPreview, InvitationRead } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { Invitations } from '../../core/people/invitations.ts'
import { defineRoute } from '../route.ts'
import { visitOf } from '../visit.ts'

/** `POST /api/console/invitations/read`: what the link of an invitation is for */
export const consoleInvitationsRead = (deps: { invitations: Invitations }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/invitations/read',
    auth: { public: true, sameSite: true },
    schema: {
      summary: 'Read an invitation or reset link',
      description:
        'A POST, so that the token is not logged as part of a URL. NOT_FOUND if the link was used, has ' +
        'expired or was withdrawn.',
      tags: ['Console'],
      body: InvitationRead,
      errors: ['NOT_FOUND', 'RATE_LIMITED'],
      response: { 200: success(InvitationPreview) },
    },
    handler: async request => ({
      success: true,
      data: await deps.invitations.preview(request.body.token, visitOf(request)),
    }),
  })
