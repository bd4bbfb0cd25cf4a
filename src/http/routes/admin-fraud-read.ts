import { success } from '../../contract/envelope.ts'
import { FraudSettingsView } from '../../contract/fraud.ts'
import type { RuleBook } from '../../core/fraud/rule-book.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/fraud` */
export const adminFraudRead = (deps: { fraudRules: RuleBook }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/fraud',
    auth: { operator: true },
    schema: {
      summary: 'Read the fraud rules of the platform',
      description:
        '`settings` are the stored rules; `effective` are the rules that apply to accounts without rules ' +
        'of their own.',
      tags: ['Operator'],
      response: { 200: success(FraudSettingsView) },
    },
    handler: async () => ({ success: true, data: await deps.fraudRules.read(null) }),
  })
