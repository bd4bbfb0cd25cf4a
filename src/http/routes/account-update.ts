import { AccountView, OwnAccountUpdate } from '../../contract/account.ts'
import { success } from '../../contract/envelope.ts'
import type { OwnAccount } from '../../core/accounts/own-account.ts'
import type { AccountReader } from '../../core/accounts/reader.ts'
import { defineRoute } from '../route.ts'

/** `PATCH /api/v2/account`: changes the settings that an owner may change. */
export const accountUpdate = (deps: { ownAccount: OwnAccount; account: AccountReader }) =>
  defineRoute({
    method: 'PATCH',
    url: '/api/v2/account',
    auth: { ownersOnly: true },
    audit: { action: 'account.update', bodyFields: ['quietHours', 'verification'] },
    schema: {
      summary: 'Change the account',
      description:
        'For owners only. Sets the quiet hours for marketing messages, and the settings of ' +
        'verifications. Absent fields stay unchanged.',
      tags: ['Account'],
      body: OwnAccountUpdate,
      response: { 200: success(AccountView) },
    },
    handler: async request => {
      await deps.ownAccount.update(request.caller, request.body)
      return { success: true, data: await deps.account.read(request.caller) }
    },
  })
