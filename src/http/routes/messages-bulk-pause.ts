import { BulkAnswer, JobPath } from '../../contract/bulk.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { viewJob } from '../../core/bulk/view.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/v2/messages/bulk/{jobId}/pause` */
export const messagesBulkPause = (deps: { bulkJobs: BulkJobs }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/bulk/:jobId/pause',
    auth: { permission: 'messages:create' },
    audit: { action: 'bulk_job.pause' },
    schema: {
      summary: 'Pause a bulk job',
      description: 'Rows that are being sent are finished; no others are sent until the job is resumed.',
      tags: ['Bulk'],
      params: JobPath,
      response: { 200: BulkAnswer },
      errors: ['JOB_NOT_FOUND', 'JOB_STATE_CONFLICT'],
    },
    handler: async ({ caller, params }) => ({
      success: true,
      job: viewJob(await deps.bulkJobs.pause(caller, params.jobId)),
    }),
  })
