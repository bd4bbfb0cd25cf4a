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
      description: '`settings` is what was said, `effective` what holds for accounts that say nothing else.',
      tags: ['Operator'],
      response: { 200: success(FraudSettingsView) },
    },
    handler: async () => ({ success: true, data: await deps.fraudRules.read(null) }),
  })
