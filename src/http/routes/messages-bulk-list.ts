import { BulkJob, BulkQuery } from '../../contract/bulk.ts'
import { page } from '../../contract/envelope.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/bulk`: the account's jobs, newest first. */
export const messagesBulkList = (deps: { bulkJobs: BulkJobs }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/bulk',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'List bulk jobs',
      tags: ['Bulk'],
      querystring: BulkQuery,
      response: { 200: page(BulkJob) },
      errors: [],
    },
    handler: ({ caller, query }) => deps.bulkJobs.list(caller, query),
  })
