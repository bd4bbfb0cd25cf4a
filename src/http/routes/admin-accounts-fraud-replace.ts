import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { FraudSettings, FraudSettingsView } from '../../contract/fraud.ts'
import type { RuleBook } from '../../core/fraud/rule-book.ts'
import { defineRoute } from '../route.ts'

/** `PUT /api/admin/accounts/{id}/fraud` */
export const adminAccountsFraudReplace = (deps: { fraudRules: RuleBook }) =>
  defineRoute({
    method: 'PUT',
    url: '/api/admin/accounts/:id/fraud',
    auth: { operator: true },
    audit: { action: 'fraud.replace', bodyFields: Object.keys(FraudSettings.properties) },
    schema: {
      summary: 'Replace the fraud rules of an account',
      description:
        "For an absent rule the platform's rule applies. Safe recipients are added to those of the " +
        'platform. Every node applies the change within a second.',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      body: FraudSettings,
      errors: ['NOT_FOUND'],
      response: { 200: success(FraudSettingsView) },
    },
    handler: async request => ({
      success: true,
      data: await deps.fraudRules.replace(request.params.id, request.body),
    }),
  })
