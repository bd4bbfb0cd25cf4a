import { Text } from '@mantine/core'
import { Inbox } from 'lucide-react'
import { DELIVERY_STATUSES, type DeliveryView, type WebhookView } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { MaybeTime, Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { DELIVERED_TYPES } from './event-types.ts'

const POLL_EVERY_MS = 2_000

/** The deliveries to an endpoint, the newest first. */
export function Deliveries({
  webhook,
  opened,
  onOpen,
}: {
  webhook: WebhookView
  opened: string | null
  onOpen: (id: string) => void
}) {
  const [filters, setFilters, clear] = useFilters(['status', 'eventType'])
  const deliveries = useReadPages(
    '/api/v2/webhooks/{id}/deliveries',
    { path: { id: webhook.id }, query: filters },
    { everyMs: POLL_EVERY_MS },
  )
  return (
    <div>
      <FilterBar onClear={clear}>
        <ChoiceFilter
          label="Status"
          value={filters.status}
          options={DELIVERY_STATUSES.map(value => ({ value, label: humanize(value) }))}
          onChange={status => setFilters({ status })}
          width={140}
        />
        <ChoiceFilter
          label="Event"
          value={filters.eventType}
          options={DELIVERED_TYPES.map(value => ({ value, label: value }))}
          onChange={eventType => setFilters({ eventType })}
          width={220}
        />
      </FilterBar>
      <DataList
        label="Deliveries"
        read={deliveries}
        columns={COLUMNS}
        rowKey={delivery => delivery.id}
        onOpen={delivery => onOpen(delivery.id)}
        opened={opened}
        height="calc(100dvh - 420px)"
        empty={
          <EmptyList
            icon={Inbox}
            clear={clear}
            noMatch={{ title: 'No delivery matches these filters' }}
            title="No deliveries yet"
            text="Use “Send a test” to check whether your receiver accepts deliveries."
          />
        }
      />
    </div>
  )
}

const COLUMNS: readonly Column<DeliveryView>[] = [
  { title: 'Status', width: '106px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Event',
    width: 'minmax(110px, 1.4fr)',
    breaksOnPhone: true,
    render({ eventType, replayOf }) {
      // A long type breaks after its last dot.
      const dot = eventType.lastIndexOf('.') + 1
      return (
        <>
          <span className="ph-mono">
            {eventType.slice(0, dot)}
            <wbr />
            {eventType.slice(dot)}
          </span>
          {replayOf !== null && (
            <Text span size="xs" c="dimmed" ml={8}>
              replay
            </Text>
          )}
        </>
      )
    },
  },
  { title: 'Response', width: 'minmax(120px, 1.4fr)', wideOnly: true, render: answerOf },
  {
    title: 'Attempts',
    width: '70px',
    align: 'end',
    wideOnly: true,
    render: ({ attempts }) => <span className="ph-num">{attempts}</span>,
  },
  {
    title: 'Next attempt',
    width: '110px',
    wideOnly: true,
    render: ({ nextAttemptAt }) => <MaybeTime at={nextAttemptAt} />,
  },
  { title: 'Created', width: '88px', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
]

function answerOf({ lastStatus, lastError }: DeliveryView): string {
  return [lastStatus, lastError].filter(part => part !== null).join(' ') || '–'
}
