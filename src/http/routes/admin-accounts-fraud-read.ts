import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { FraudSettingsView } from '../../contract/fraud.ts'
import type { RuleBook } from '../../core/fraud/rule-book.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/accounts/{id}/fraud` */
export const adminAccountsFraudRead = (deps: { fraudRules: RuleBook }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/accounts/:id/fraud',
    auth: { operator: true },
    schema: {
      summary: 'Read the fraud rules of an account',
      tags: ['Operator'],
      params: Type.Object({ id: Type.String() }),
      errors: ['NOT_FOUND'],
      response: { 200: success(FraudSettingsView) },
    },
    handler: async request => ({ success: true, data: await deps.fraudRules.read(request.params.id) }),
  })
