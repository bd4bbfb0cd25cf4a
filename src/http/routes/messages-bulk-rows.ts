import { BulkRow, BulkRowQuery, JobPath } from '../../contract/bulk.ts'
import { page } from '../../contract/envelope.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/bulk/{jobId}/rows`: the result of each row. */
export const messagesBulkRows = (deps: { bulkJobs: BulkJobs }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/bulk/:jobId/rows',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'List the rows of a bulk job',
      description:
        'In order. The rows with status `invalid` are all the rows for which the job was rejected.',
      tags: ['Bulk'],
      params: JobPath,
      querystring: BulkRowQuery,
      response: { 200: page(BulkRow) },
      errors: ['JOB_NOT_FOUND'],
    },
    handler: ({ caller, params, query }) => deps.bulkJobs.rows(caller, params.jobId, query),
  })
