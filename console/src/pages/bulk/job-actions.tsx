import { Button } from '@mantine/core'
import { CirclePause, CirclePlay, X } from 'lucide-react'
import { useState } from 'react'
import type { BulkAnswer, BulkJob } from '../../../../sdk/index.ts'
import { useAction } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { notifyFault } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { BULK } from './path.ts'

/** Pause, resume and cancel, as far as its state allows. */
export function JobActions({ job, onJob }: { job: BulkJob; onJob: (job: BulkJob) => void }) {
  const [asked, setAsked] = useState(false)
  const path = { jobId: job.id }
  const options = { changes: [BULK], onDone: (answer: BulkAnswer) => onJob(answer.job) }
  const pause = useAction(api => api.post('/api/v2/messages/bulk/{jobId}/pause', { path }), options)
  const resume = useAction(api => api.post('/api/v2/messages/bulk/{jobId}/resume', { path }), options)
  const cancel = useAction(api => api.post('/api/v2/messages/bulk/{jobId}/cancel', { path }), options)
  const { can } = useSession()
  const { status, counts } = job
  const isActive = status === 'running' || status === 'queued'
  if (!can('messages:create')) return null
  return (
    <>
      {isActive && (
        <Button
          variant="default"
          leftSection={<CirclePause size={16} />}
          loading={pause.isPending}
          onClick={() => pause.mutate(undefined, { onError: notifyFault })}
        >
          Pause
        </Button>
      )}
      {status === 'paused' && (
        <Button
          leftSection={<CirclePlay size={16} />}
          loading={resume.isPending}
          onClick={() => resume.mutate(undefined, { onError: notifyFault })}
        >
          Resume
        </Button>
      )}
      {(isActive || status === 'paused' || status === 'validating') && (
        <Button variant="default" leftSection={<X size={16} />} onClick={() => setAsked(true)}>
          Cancel
        </Button>
      )}
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title="Cancel this job?"
        text={`${counts.pending.toLocaleString()} unsent rows will not be sent; messages already on their way may still go out. A cancelled job cannot be resumed.`}
        confirmLabel="Cancel the job"
        run={() => cancel.mutateAsync(undefined)}
      />
    </>
  )
}
