import { Type } from 'typebox'
import { JobPath } from '../../contract/bulk.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { viewJob } from '../../core/bulk/view.ts'
import type { BulkWatch } from '../../core/bulk/watch.ts'
import { type EventStreams, HEARTBEAT } from '../event-streams.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/bulk/{jobId}/events`: the job after each change, as server-sent events. */
export const messagesBulkEvents = (deps: {
  bulkJobs: BulkJobs
  bulkWatch: BulkWatch
  eventStreams: EventStreams
}) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/bulk/:jobId/events',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Follow a bulk job',
      description:
        'Server-sent events. `event: job` carries the job, at the start and at each change, until the ' +
        'job has ended and, if it was cancelled, the rows that were being sent are settled. Comment ' +
        'lines keep the connection alive.',
      tags: ['Bulk'],
      params: JobPath,
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
      errors: ['JOB_NOT_FOUND'],
    },
    async handler(request, reply) {
      const job = await deps.bulkJobs.read(request.caller, request.params.jobId)
      return deps.eventStreams.answer(request as never, reply, {
        permission: 'messages:read',
        follow: gone => deps.bulkWatch.follow(job, gone),
        format: event => (event ? `event: job\ndata: ${JSON.stringify(viewJob(event))}\n\n` : HEARTBEAT),
      })
    },
  })
