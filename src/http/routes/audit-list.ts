import { AuditEntry, AuditQuery } from '../../contract/audit.ts'
import { page } from '../../contract/envelope.ts'
import type { AuditLog } from '../../core/audit/audit-log.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/audit` */
export const auditList = (deps: { auditLog: AuditLog }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/audit',
    auth: { ownersOnly: true },
    schema: {
      summary: 'Read the audit log',
      description:
        'Every change of the account with the person, key or operator who made it, newest first. Sends ' +
        'are not included.',
      tags: ['Audit'],
      querystring: AuditQuery,
      response: { 200: page(AuditEntry) },
    },
    handler: request => deps.auditLog.list(request.caller, request.query),
  })
