import { Progress } from '@mantine/core'
import type { BulkJob } from '../../../../sdk/index.ts'

/** The progress of a job: validated rows during validation, then the outcomes. */
export function JobProgress({ job, size = 'sm' }: { job: BulkJob; size?: string }) {
  const { status, total, validatedCount, counts } = job
  const share = (count: number) => (total === 0 ? 0 : (100 * count) / total)
  if (status === 'accepting' || status === 'validating') {
    return (
      <Progress.Root size={size} aria-label="Rows validated">
        <Progress.Section
          value={share(validatedCount)}
          color="brass.4"
          animated
          aria-label={`${validatedCount} of ${total} rows validated`}
        />
      </Progress.Root>
    )
  }
  return (
    <Progress.Root size={size}>
      <Progress.Section
        value={share(counts.sent)}
        color="verdigris.6"
        aria-label={`${counts.sent} of ${total} rows sent`}
      />
      <Progress.Section
        value={share(counts.failed)}
        color="red.7"
        aria-label={`${counts.failed} rows failed`}
      />
      <Progress.Section
        value={share(counts.cancelled)}
        color="gray.5"
        aria-label={`${counts.cancelled} rows cancelled`}
      />
    </Progress.Root>
  )
}
