import { BulkAnswer, JobPath } from '../../contract/bulk.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { viewJob } from '../../core/bulk/view.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/messages/bulk/{jobId}/cancel` */
export const messagesBulkCancel = (deps: { bulkJobs: BulkJobs }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/bulk/:jobId/cancel',
    auth: { permission: 'messages:create' },
    audit: { action: 'bulk_job.cancel' },
    schema: {
      summary: 'Cancel a bulk job',
      description: 'Cancels the rows that were not sent yet. Rows that are being sent are finished.',
      tags: ['Bulk'],
      params: JobPath,
      response: { 200: BulkAnswer },
      errors: ['JOB_NOT_FOUND', 'JOB_STATE_CONFLICT'],
    },
    handler: async ({ caller, params }) => ({
      success: true,
      job: viewJob(await deps.bulkJobs.cancel(caller, params.jobId)),
    }),
  })
