import { Text, Title } from '@mantine/core'
import { Receipt } from 'lucide-react'
import type { LedgerEntry } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { PeriodFilter } from '../../parts/common-filters.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { MessageLink } from '../../parts/message-link.tsx'
import { breakable, formatMoney } from '../../parts/money.tsx'
import { periodStart } from '../../parts/periods.ts'
import { humanize, StatusBadge, type Tone } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'

const POLL_EVERY_MS = 10_000
const SOURCES = [
  { value: 'messages', label: 'Messages' },
  { value: 'credits', label: 'Credits and debits' },
]
const NAMES = ['source', 'when'] as const

/** All ledger entries, the newest first. */
export function Ledger() {
  const [filters, setFilters, clear] = useFilters(NAMES)
  const createdAfter = periodStart(filters.when)
  const ledger = useReadPages(
    '/api/v2/wallet/ledger',
    {
      query: {
        ...(filters.source && { source: filters.source }),
        ...(createdAfter !== null && { createdAfter }),
      },
    },
    { everyMs: POLL_EVERY_MS },
  )
  return (
    <div>
      <Title order={2} size="h3" mb="sm">
        Movements
      </Title>
      <FilterBar onClear={clear}>
        <ChoiceFilter
          label="All movements"
          value={filters.source}
          options={SOURCES}
          onChange={source => setFilters({ source })}
        />
        <PeriodFilter value={filters.when} onChange={when => setFilters({ when })} />
      </FilterBar>
      <DataList
        label="Movements of the wallet"
        read={ledger}
        columns={COLUMNS}
        rowKey={({ id, type, createdAt, amount }) => `${id} ${type} ${createdAt} ${amount}`}
        height="560px"
        empty={
          <EmptyList
            icon={Receipt}
            clear={clear}
            noMatch={{ title: 'No movement matches these filters' }}
            title="No movements yet"
            text="Credits by the operator appear here, and the amounts that live messages hold, cost and release."
          />
        }
      />
    </div>
  )
}

type Kind = LedgerEntry['type']

/** The sign and tone of each type of entry. */
const KINDS: Readonly<Record<Kind, { tone: Tone; sign: string }>> = {
  credit: { tone: 'good', sign: '+' },
  debit: { tone: 'bad', sign: '−' },
  refund: { tone: 'good', sign: '+' },
  hold: { tone: 'busy', sign: '−' },
  capture: { tone: 'still', sign: '' },
  release: { tone: 'good', sign: '+' },
}

const COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    title: 'Movement',
    width: '100px',
    render: ({ type }) => <StatusBadge status={type} tone={KINDS[type].tone} label={humanize(type)} />,
  },
  {
    title: 'For',
    width: 'minmax(84px, 2fr)',
    render: ({ messageId, note }) =>
      messageId === null ? note === null ? '–' : <bdi>{note}</bdi> : <MessageLink id={messageId} />,
  },
  {
    title: 'Usage',
    width: 'minmax(216px, 1.4fr)',
    wideOnly: true,
    render: ({ id }) => <span className="ph-mono">{id}</span>,
  },
  {
    title: 'Amount',
    width: 'minmax(148px, 1fr)',
    align: 'end',
    breaksOnPhone: true,
    render: ({ type, amount, currency }) => (
      <Text span size="sm" className="ph-num" c={KINDS[type].sign === '' ? 'dimmed' : undefined}>
        {KINDS[type].sign}
        {breakable(formatMoney(amount, currency))}
      </Text>
    ),
  },
  {
    title: 'When',
    width: '96px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]
