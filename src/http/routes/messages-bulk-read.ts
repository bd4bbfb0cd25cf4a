import { BulkAnswer, JobPath } from '../../contract/bulk.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { viewJob } from '../../core/bulk/view.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/bulk/{jobId}`: a job and its progress. */
export const messagesBulkRead = (deps: { bulkJobs: BulkJobs }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/bulk/:jobId',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Read a bulk job',
      tags: ['Bulk'],
      params: JobPath,
      response: { 200: BulkAnswer },
      errors: ['JOB_NOT_FOUND'],
    },
    handler: async ({ caller, params }) => ({
      success: true,
      job: viewJob(await deps.bulkJobs.read(caller, params.jobId)),
    }),
  })
