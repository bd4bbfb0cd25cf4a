import { Button, Text } from '@mantine/core'
import { History } from 'lucide-react'
import { useState } from 'react'
import type { AdminAuditEntry } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { ChoiceFilter, FilterBar } from '../../../parts/filter-bar.tsx'
import { Page } from '../../../parts/page.tsx'
import { Time } from '../../../parts/time.tsx'
import { useFilters } from '../../../parts/use-filters.ts'
import { actionInWords, GROUPS } from '../../audit/actions.ts'
import { EntryPanel } from '../../audit/entry-panel.tsx'
import { PERIODS, periodStart } from '../../messages/periods.ts'
import { AccountName, useAccountNames } from '../account-names.tsx'

const LOOK_EVERY_MS = 10_000
const NAMES = ['action', 'accountId', 'actorId', 'when'] as const
const PLATFORM = { value: 'platform', label: 'The platform' }

/** Who changed what, of every account and of the platform. */
export default function OperatorAudit() {
  const [filters, setFilters] = useFilters(NAMES)
  const { when, ...query } = filters
  const from = periodStart(when)
  const entries = useReadPages(
    '/api/admin/audit',
    { query: { ...query, ...(from !== null && { from }) } },
    { everyMs: LOOK_EVERY_MS },
  )
  const names = useAccountNames()
  const [opened, setOpened] = useState<AdminAuditEntry | null>(null)
  const filtered = Object.keys(filters).length > 0
  const clear = () => setFilters(Object.fromEntries(NAMES.map(name => [name, null])))
  return (
    <Page
      title="Audit of all"
      lead="Who changed what, when and from where, in every account and on the platform. It cannot be changed."
    >
      <FilterBar onClear={filtered ? clear : null}>
        <ChoiceFilter
          label="Every account"
          value={filters.accountId}
          options={[PLATFORM, ...[...names].map(([value, label]) => ({ value, label }))]}
          onChange={accountId => setFilters({ accountId })}
        />
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
        label="Audit of all"
        read={entries}
        columns={[
          ...COLUMNS,
          {
            title: 'In',
            width: 'minmax(110px, 1fr)',
            wideOnly: true,
            render: ({ accountId }) => <AccountName id={accountId} names={names} />,
          },
          { title: 'When', width: '92px', align: 'end', render: ({ at }) => <Time at={at} /> },
        ]}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        opened={opened?.id ?? null}
        empty={
          <EmptyNote
            icon={History}
            title={filtered ? 'Nothing fits these filters' : 'Nothing was changed yet'}
            text={filtered ? undefined : 'Whatever changes an account or the platform is kept here.'}
            action={
              filtered && (
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              )
            }
          />
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

const COLUMNS: readonly Column<AdminAuditEntry>[] = [
  {
    title: 'Who',
    width: 'minmax(110px, 1.1fr)',
    render: ({ actor }) => (
      <Text span fw={500} size="sm" truncate>
        <bdi>{actor.name}</bdi>
      </Text>
    ),
  },
  { title: 'Did', width: 'minmax(150px, 1.5fr)', render: ({ action }) => actionInWords(action) },
  {
    title: 'To',
    width: 'minmax(160px, 1.4fr)',
    wideOnly: true,
    render: ({ target }) => (target === null ? '–' : <bdi className="ph-mono">{target}</bdi>),
  },
]
