import { Button, Text } from '@mantine/core'
import { ScrollText } from 'lucide-react'
import { useState } from 'react'
import type { AuditEntry } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { PERIODS, periodStart } from '../messages/periods.ts'
import { actionInWords, GROUPS } from './actions.ts'
import { EntryPanel } from './entry-panel.tsx'

const LOOK_EVERY_MS = 10_000
const NAMES = ['action', 'actorId', 'when'] as const

/** Who changed what of the account. For owners alone. */
export default function Audit() {
  const [filters, setFilters] = useFilters(NAMES)
  const { when, ...query } = filters
  const from = periodStart(when)
  const entries = useReadPages(
    '/api/v2/audit',
    { query: { ...query, ...(from !== null && { from }) } },
    { everyMs: LOOK_EVERY_MS },
  )
  const [opened, setOpened] = useState<AuditEntry | null>(null)
  const filtered = Object.keys(filters).length > 0
  const clear = () => setFilters(Object.fromEntries(NAMES.map(name => [name, null])))
  return (
    <Page
      title="Audit log"
      lead="Who changed what, when and from where: people, keys and the operator. It cannot be changed."
    >
      <FilterBar onClear={filtered ? clear : null}>
        <ChoiceFilter
          label="Everything"
          value={filters.action}
          options={GROUPS}
          onChange={action => setFilters({ action })}
        />
        <ChoiceFilter
          label="Any time"
          value={filters.when}
          options={PERIODS}
          onChange={value => setFilters({ when: value })}
          width={150}
        />
        {filters.actorId !== undefined && (
          <Text size="sm" c="dimmed">
            One person or key
          </Text>
        )}
      </FilterBar>
      <DataList
        label="Audit log"
        read={entries}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        opened={opened?.id ?? null}
        empty={
          filtered ? (
            <EmptyNote
              icon={ScrollText}
              title="Nothing fits these filters"
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            />
          ) : (
            <EmptyNote
              icon={ScrollText}
              title="Nothing was changed yet"
              text="Keys made, members invited, templates deleted: whatever changes the account is kept here."
            />
          )
        }
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
    width: 'minmax(84px, 1.1fr)',
    render: ({ actor }) => (
      <Text span fw={500} size="sm" truncate>
        <bdi>{actor.name}</bdi>
      </Text>
    ),
  },
  { title: 'Did', width: 'minmax(130px, 1.5fr)', render: ({ action }) => actionInWords(action) },
  {
    title: 'To',
    width: 'minmax(180px, 1.6fr)',
    wideOnly: true,
    render: ({ target }) => (target === null ? '–' : <bdi className="ph-mono">{target}</bdi>),
  },
  {
    title: 'From',
    width: '140px',
    wideOnly: true,
    render: ({ ip }) => <span className="ph-mono">{ip ?? '–'}</span>,
  },
  { title: 'When', width: '84px', align: 'end', render: ({ at }) => <Time at={at} /> },
]
