import { Anchor, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { BulkJob } from '../../../../sdk/index.ts'
import { type LiveState, useLive } from '../../api/use-live.ts'
import { useInvalidate, useRead } from '../../api/use-read.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { JobActions } from './job-actions.tsx'
import { JobNotice } from './job-notice.tsx'
import { JobProgress } from './job-progress.tsx'
import { JobRows } from './job-rows.tsx'
import { formatDuration, isFinished, secondsLeft } from './pace.ts'
import { RateChart } from './rate-chart.tsx'
import { useRate } from './use-rate.ts'

const BACK = (
  <Anchor component={Link} href="/bulk" size="sm">
    All jobs
  </Anchor>
)

/** One job, updated by events, or by polling if streams do not get through. */
export default function JobPage({ jobId }: { jobId: string }) {
  const invalidate = useInvalidate()
  const read = useRead('/api/v2/messages/bulk/{jobId}', { path: { jobId } })
  const [liveJob, setLiveJob] = useState<BulkJob | null>(null)
  const job = liveJob ?? read.data?.job ?? null
  const live = useLive(job === null || isFinished(job) ? null : `/api/v2/messages/bulk/${jobId}/events`, {
    onEvent: ({ data }) => showJob(JSON.parse(data) as BulkJob),
    async poll() {
      const { data, isError } = await read.refetch()
      // After an error, `data` is older than the last event.
      if (data && !isError) showJob(data.job)
    },
  })

  function showJob(job: BulkJob): void {
    setLiveJob(job)
    // The rows are no longer polled: read their final state once.
    if (isFinished(job)) invalidate(['/api/v2/messages/bulk/{jobId}/rows'])
  }

  if (!job) {
    return (
      <Page title="Bulk job" lead={BACK}>
        {read.error ? <ReadFault error={read.error} retry={read.refetch} /> : <Skeleton h={420} />}
      </Page>
    )
  }
  return (
    <Page
      title={job.name === '' ? 'Bulk job' : job.name}
      lead={BACK}
      actions={
        <>
          <Live state={live} />
          <StatusBadge status={job.status} />
          <JobActions job={job} onJob={showJob} />
        </>
      }
    >
      <Stack gap="lg">
        <JobNotice job={job} />
        <Running job={job} />
        <JobRows job={job} live={!isFinished(job)} />
      </Stack>
    </Page>
  )
}

function Live({ state }: { state: LiveState }) {
  if (state === 'off') return null
  return (
    <Text size="xs" c="dimmed">
      {state === 'live' ? 'Live' : 'Refreshing every 2 s'}
    </Text>
  )
}

function Running({ job }: { job: BulkJob }) {
  const samples = useRate(job)
  const { counts, total, messagesPerSecond: rate } = job
  const left = secondsLeft(job, samples)
  return (
    <Card>
      <Stack gap="md">
        <JobProgress job={job} size="lg" />
        <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} spacing="md">
          <Count label="Rows" value={total} />
          {job.status === 'validating' || job.status === 'accepting' ? (
            <Count label="Validated" value={job.validatedCount} />
          ) : (
            <Count label="Sent" value={counts.sent} color="var(--ph-good)" />
          )}
          <Count
            label="Failed"
            value={counts.failed}
            color={counts.failed > 0 ? 'var(--ph-bad)' : undefined}
          />
          <Count label="Pending" value={counts.pending} />
          <Metric label="Rate" value={rate === null ? '–' : `${rate} a second`} />
          {left === null ? (
            <Metric label="Created" value={<Time at={job.createdAt} />} />
          ) : (
            <Metric label="Time left, about" value={formatDuration(left)} />
          )}
        </SimpleGrid>
        {samples.length > 1 && <RateChart samples={samples} most={rate ?? 1} />}
      </Stack>
    </Card>
  )
}

function Count({ label, value, color }: { label: string; value: number; color?: string | undefined }) {
  return <Metric label={label} value={<span style={{ color }}>{value.toLocaleString()}</span>} />
}

function Metric({ label, value }: { label: string; value: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} size="lg" component="div" className="ph-num">
        {value}
      </Text>
    </div>
  )
}
