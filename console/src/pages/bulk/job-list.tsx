import { Button, Text } from '@mantine/core'
import { Plus, Rows3 } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { BULK_STATUSES, type BulkJob } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { JobProgress } from './job-progress.tsx'
import { BULK } from './path.ts'

const POLL_EVERY_MS = 2_000

export function JobList() {
  const [, go] = useLocation()
  const [filters, setFilters, clear] = useFilters(['status'])
  const jobs = useReadPages(BULK, { query: filters }, { everyMs: POLL_EVERY_MS })
  const { can } = useSession()
  const mayRun = can('messages:create')
  return (
    <Page
      title="Bulk"
      lead="Many different messages at a rate of your choice. Nothing is sent until every row is validated."
      actions={
        mayRun && (
          <Button component={Link} href="/bulk/new" leftSection={<Plus size={16} />}>
            New job
          </Button>
        )
      }
    >
      <FilterBar onClear={clear}>
        <ChoiceFilter
          label="Status"
          value={filters.status}
          options={BULK_STATUSES.map(value => ({ value, label: humanize(value) }))}
          onChange={status => setFilters({ status })}
        />
      </FilterBar>
      <DataList
        label="Bulk jobs"
        read={jobs}
        columns={COLUMNS}
        rowKey={job => job.id}
        onOpen={job => go(`/bulk/${job.id}`)}
        empty={
          <EmptyList
            icon={Rows3}
            clear={clear}
            noMatch={{ title: 'No job has this status' }}
            title="No bulk jobs yet"
            text="Upload a CSV or Excel file, assign its columns, check the cost, and start the job."
            action={
              mayRun && (
                <Button component={Link} href="/bulk/new">
                  New job
                </Button>
              )
            }
          />
        }
      />
    </Page>
  )
}

const COLUMNS: readonly Column<BulkJob>[] = [
  {
    title: 'Name',
    width: 'minmax(96px, 1.6fr)',
    render: ({ name, id }) => (
      <Text span fw={500} size="sm">
        {name === '' ? <span className="ph-mono">{id}</span> : <bdi>{name}</bdi>}
      </Text>
    ),
  },
  { title: 'Status', width: '106px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Progress',
    width: 'minmax(140px, 2fr)',
    wideOnly: true,
    render: job => <JobProgress job={job} />,
  },
  {
    title: 'Rows',
    width: '66px',
    align: 'end',
    render: ({ total }) => <span className="ph-num">{total.toLocaleString()}</span>,
  },
  {
    title: 'Sent',
    width: '80px',
    align: 'end',
    wideOnly: true,
    render: ({ counts }) => <span className="ph-num">{counts.sent.toLocaleString()}</span>,
  },
  {
    title: 'Failed',
    width: '70px',
    align: 'end',
    wideOnly: true,
    render: ({ counts }) => (
      <span className="ph-num" style={counts.failed > 0 ? { color: 'var(--ph-bad)' } : undefined}>
        {counts.failed.toLocaleString()}
      </span>
    ),
  },
  {
    title: 'Created',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]
