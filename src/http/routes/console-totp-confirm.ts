import { TotpConfirm, TotpDone } from '../../contract/console.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnLogin } from '../../core/people/own-login.ts'
import { defineRoute } from '../route.ts'
import type { SessionCookies } from '../session-cookies.ts'
import { visitOf } from '../visit.ts'

/** `POST /api/console/totp/confirm` */
export const consoleTotpConfirm = (deps: { ownLogin: OwnLogin; cookies: SessionCookies }) =>
  defineRoute({
    method: 'POST',
    url: '/api/console/totp/confirm',
    auth: { session: true },
    audit: { action: 'login.totp_on' },
    schema: {
      summary: 'Turn the second factor on',
      description: 'Only this response contains the recovery codes. All other sessions end.',
      tags: ['Console'],
      body: TotpConfirm,
      errors: ['CONFLICT', 'RATE_LIMITED'],
      headersByStatus: { 200: ['Set-Cookie'] },
      response: { 200: success(TotpDone) },
    },
    handler: async (request, reply) => {
      const { recoveryCodes, entered } = await deps.ownLogin.confirmTotp(
        request.signedIn,
        request.body.code,
        visitOf(request),
      )
      deps.cookies.set(reply, entered)
      return { success: true, data: { recoveryCodes, session: entered.view } }
    },
  })
