import { BulkAnswer, JobPath } from '../../contract/bulk.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { viewJob } from '../../core/bulk/view.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/messages/bulk/{jobId}/resume` */
export const messagesBulkResume = (deps: { bulkJobs: BulkJobs }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/bulk/:jobId/resume',
    auth: { permission: 'messages:create' },
    audit: { action: 'bulk_job.resume' },
    schema: {
      summary: 'Resume a bulk job',
      description: 'Ends a pause of any reason.',
      tags: ['Bulk'],
      params: JobPath,
      response: { 200: BulkAnswer },
      errors: ['JOB_NOT_FOUND', 'JOB_STATE_CONFLICT'],
    },
    handler: async ({ caller, params }) => ({
      success: true,
      job: viewJob(await deps.bulkJobs.resume(caller, params.jobId)),
    }),
  })
