import { Anchor, Button, Text } from '@mantine/core'
import { Download, Rows3 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { type BulkJob, type BulkRow, ROW_STATUSES, type RowStatus } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { notifyFault } from '../../parts/toast.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { downloadRows } from './download-rows.ts'

const POLL_EVERY_MS = 3_000

/** The rows with their outcomes. */
export function JobRows({ job, live }: { job: BulkJob; live: boolean }) {
  const api = useApi()
  const [filters, setFilters, clear] = useFilters(['status'])
  const [busy, setBusy] = useState(false)
  const invalid = job.errorCode === 'VALIDATION_FAILED'
  const status = filters.status ?? (invalid ? 'invalid' : undefined)
  const rows = useReadPages(
    '/api/v2/messages/bulk/{jobId}/rows',
    { path: { jobId: job.id }, query: { status } },
    { everyMs: live ? POLL_EVERY_MS : undefined },
  )
  const bad: RowStatus = invalid ? 'invalid' : 'failed'
  const hasBad = invalid || job.counts.failed > 0

  async function download(): Promise<void> {
    setBusy(true)
    try {
      await downloadRows(api, job, bad)
    } catch (error) {
      notifyFault(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div>
      <FilterBar onClear={clear}>
        <ChoiceFilter
          label="All rows"
          value={status}
          options={ROW_STATUSES.map(value => ({ value, label: humanize(value) }))}
          onChange={chosen => setFilters({ status: chosen })}
        />
        {hasBad && (
          <Button
            variant="default"
            size="sm"
            ms="auto"
            leftSection={<Download size={15} />}
            loading={busy}
            onClick={download}
          >
            {invalid ? 'Invalid rows as CSV' : 'Failed rows as CSV'}
          </Button>
        )}
      </FilterBar>
      <DataList
        label="Rows"
        read={rows}
        columns={COLUMNS}
        rowKey={row => String(row.index)}
        height="520px"
        empty={
          <EmptyList
            icon={Rows3}
            clear={clear}
            noMatch={{ title: `No ${humanize(status ?? '').toLowerCase()} rows` }}
            title="No rows"
            text={job.status === 'rejected' && !invalid ? 'The rows of this job were not stored.' : undefined}
          />
        }
      />
    </div>
  )
}

const COLUMNS: readonly Column<BulkRow>[] = [
  {
    title: 'Row',
    width: '70px',
    wideOnly: true,
    render: ({ index }) => <span className="ph-num">{(index + 1).toLocaleString()}</span>,
  },
  { title: 'Status', width: '98px', render: ({ status }) => <StatusBadge status={status} /> },
  { title: 'To', width: 'minmax(112px, 1fr)', render: ({ to }) => <bdi className="ph-num">{to}</bdi> },
  {
    title: 'Error',
    width: 'minmax(160px, 2fr)',
    wideOnly: true,
    render: ({ errorCode, errorMessage }) =>
      errorCode === null ? (
        ''
      ) : (
        <span title={errorMessage ?? undefined}>
          <Text span size="xs" className="ph-mono" c="var(--ph-bad)">
            {errorCode}
          </Text>{' '}
          <bdi>{errorMessage}</bdi>
        </span>
      ),
  },
  {
    title: 'Message',
    hidesTitle: true,
    width: '64px',
    align: 'end',
    render: ({ messageId }) =>
      messageId !== null && (
        <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
          Message
        </Anchor>
      ),
  },
]
