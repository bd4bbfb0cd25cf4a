import { AdminAuditEntry, AdminAuditQuery } from '../../contract/audit.ts'
import { page } from '../../contract/envelope.ts'
import type { AuditLog } from '../../core/audit/audit-log.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/admin/audit` */
export const adminAuditList = (deps: { auditLog: AuditLog }) =>
  defineRoute({
    method: 'GET',
    url: '/api/admin/audit',
    auth: { operator: true },
    schema: {
      summary: 'Read the audit log of all accounts',
      description: 'The entries of every account and of the platform, newest first.',
      tags: ['Operator'],
      querystring: AdminAuditQuery,
      response: { 200: page(AdminAuditEntry) },
      errors: ['NOT_FOUND'],
    },
    handler: request => deps.auditLog.listAll(request.query),
  })
