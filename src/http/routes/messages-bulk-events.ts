import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Job } from '../../core/bulk/job.ts'
import type { BulkJobs } from '../../core/bulk/jobs.ts'
import { viewJob } from '../../core/bulk/view.ts'
import type { BulkWatch } from '../../core/bulk/watch.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/messages/bulk/{jobId}/events`: the job at each change, as server-sent events. */
export const messagesBulkEvents = (deps: { bulkJobs: BulkJobs; bulkWatch: BulkWatch }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/messages/bulk/:jobId/events',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'Follow a bulk job',
      description:
        'Server-sent events: `event: job` with the job as its data, now and at each change, until it has ended. ' +
        'A comment line now and then keeps the connection open.',
      tags: ['Bulk'],
      params: Type.Object({ jobId: Type.String() }),
      response: { 200: Type.String({ contentMediaType: 'text/event-stream' }) },
      errors: ['JOB_NOT_FOUND'],
    },
    async handler(request, reply) {
      const job = await deps.bulkJobs.read(request.caller, request.params.jobId)
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const events = deps.bulkWatch.follow(job, gone.signal)
      // The first one before the answer begins: a refusal still has its status.
      const first = await events.next()
      reply.headers({
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        // A proxy that gathers answers would hold the progress back.
        'X-Accel-Buffering': 'no',
      })
      return reply.send(Readable.from(write(first.value as Job, events), { highWaterMark: 1 }))
    },
  })

async function* write(first: Job, events: AsyncGenerator<Job | null>): AsyncGenerator<string> {
  try {
    yield say(first)
    for await (const job of events) yield job ? say(job) : ': still here\n\n'
  } finally {
    await events.return(null)
  }
}

function say(job: Job): string {
  return `event: job\ndata: ${JSON.stringify(viewJob(job))}\n\n`
}
