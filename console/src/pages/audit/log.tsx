import { Text } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AuditEntry } from '../../../../sdk/index.ts'
import type { PagedRead } from '../../api/use-read.ts'
import { PeriodFilter } from '../../parts/common-filters.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { periodStart } from '../../parts/periods.ts'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { actionLabel } from './actions.ts'
import { EntryPanel } from './entry-panel.tsx'

export const POLL_EVERY_MS = 10_000
const NAMES = ['action', 'actorId', 'when', 'accountId'] as const
type Filters = ReturnType<typeof useFilters<(typeof NAMES)[number]>>

/** The filters in the URL, and what they ask the API for. */
export function useAuditFilters(): { filters: Filters; query: Record<string, string> } {
  const filters = useFilters(NAMES)
  const { when, ...query } = filters[0]
  const from = periodStart(when)
  return { filters, query: { ...query, ...(from !== null && { from }) } }
}

/** Who did what, when and from where; one entry beside the list. */
export function AuditLog<E extends AuditEntry>({
  title,
  lead,
  emptyNote,
  filters: [filters, setFilters, clear],
  entries,
  groups,
  accountFilter,
  aside,
}: {
  title: string
  lead: string
  /** Shown while the list is empty. */
  emptyNote: { icon: LucideIcon; text: string }
  filters: Filters
  entries: PagedRead<E>
  /** The groups of actions that can occur. */
  groups: readonly { value: string; label: string }[]
  /** Before the other filters. */
  accountFilter?: ReactNode
  /** A column before the time. */
  aside: Column<E>
}) {
  const [opened, setOpened] = useState<E | null>(null)
  return (
    <Page title={title} lead={lead}>
      <FilterBar onClear={clear}>
        {accountFilter}
        <ChoiceFilter
          label="All actions"
          value={filters.action}
          options={groups}
          onChange={action => setFilters({ action })}
        />
        <PeriodFilter value={filters.when} onChange={when => setFilters({ when })} />
        {filters.actorId !== undefined && (
          <Text size="sm" c="dimmed">
            Filtered by one person or key
          </Text>
        )}
      </FilterBar>
      <DataList
        label={title}
        read={entries}
        columns={[...COLUMNS, aside, WHEN]}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        opened={opened?.id ?? null}
        empty={<EmptyList icon={emptyNote.icon} clear={clear} title="No changes yet" text={emptyNote.text} />}
      />
      <EntryPanel
        entry={opened}
        onClose={() => setOpened(null)}
        onActor={actorId => {
          setOpened(null)
          setFilters({ actorId })
        }}
      />
    </Page>
  )
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    title: 'Who',
    width: 'minmax(70px, 1.1fr)',
    breaksOnPhone: true,
    render: ({ actor }) => <bdi style={{ fontWeight: 500 }}>{actor.name}</bdi>,
  },
  {
    title: 'Action',
    width: 'minmax(110px, 1.5fr)',
    breaksOnPhone: true,
    render: ({ action }) => actionLabel(action),
  },
  {
    title: 'Target',
    width: 'minmax(170px, 1.5fr)',
    wideOnly: true,
    render: ({ target }) => (target === null ? '–' : <bdi className="ph-mono">{target}</bdi>),
  },
]

const WHEN: Column<AuditEntry> = {
  title: 'When',
  width: '86px',
  align: 'end',
  render: ({ at }) => <Time at={at} />,
}
