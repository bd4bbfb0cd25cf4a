import { success } from '../../contract/envelope.ts'
import { FraudSettings, FraudSettingsView } from '../../contract/fraud.ts'
import type { RuleBook } from '../../core/fraud/rule-book.ts'
import { defineRoute } from '../route.ts'

/** `PUT /api/admin/fraud` */
export const adminFraudReplace = (deps: { fraudRules: RuleBook }) =>
  defineRoute({
    method: 'PUT',
    url: '/api/admin/fraud',
    auth: { operator: true },
    audit: { action: 'fraud.replace', bodyFields: Object.keys(FraudSettings.properties) },
    schema: {
      summary: 'Replace the fraud rules of the platform',
      description:
        'For an absent rule the built-in default applies. Every node applies the change within a second.',
      tags: ['Operator'],
      body: FraudSettings,
      response: { 200: success(FraudSettingsView) },
    },
    handler: async request => ({ success: true, data: await deps.fraudRules.replace(null, request.body) }),
  })
