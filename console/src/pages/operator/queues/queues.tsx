import { Anchor, SimpleGrid, Skeleton, Stack, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { QueuesView, QueueView } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Figure } from '../../../parts/figure.tsx'
import { formatCappedCount, formatCount, MAX_COUNTED } from '../../../parts/format-count.ts'
import { Card, Page } from '../../../parts/page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { WideTable } from '../../../parts/wide-table.tsx'

const POLL_EVERY_MS = 3_000
const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** A delay at which people notice that their code is late. */
const SLOW_MS = 5_000
const LATE_MS = 60_000

/** The queues of all connections, and their delays. */
export default function Queues() {
  const read = useRead('/api/admin/queues', undefined, { everyMs: POLL_EVERY_MS })
  const data = read.data?.data
  return (
    <Page
      title="Queues"
      lead="Messages that wait for each connection, and how long the oldest of them is due."
    >
      {!data && read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!data && !read.error && <Skeleton h={300} />}
      {data && (
        <Stack gap="lg">
          <Figures queues={data} />
          <Card title="By connection" flush={data.connections.length > 0}>
            <QueueTable queues={data.connections} />
          </Card>
        </Stack>
      )}
    </Page>
  )
}

function Figures({ queues }: { queues: QueuesView }) {
  const { connections, bulk, deliveries, parkedReceipts } = queues
  const due = connections.reduce((sum, { due }) => sum + due, 0)
  const isCapped = connections.some(({ due }) => due >= MAX_COUNTED)
  const lagMs = Math.max(0, ...connections.map(each => each.lagMs))
  const waitingJobs = bulk.queued + bulk.validating
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <Figure label="Messages due" value={due} format={count => formatCount(count, isCapped)} />
      <Figure label="Longest wait" value={lagMs} format={formatDelay} />
      <Figure
        label="Webhook deliveries"
        value={deliveries.waiting}
        format={formatCappedCount}
        note="waiting"
      />
      <Figure label="Bulk jobs running" value={bulk.running} />
      <Figure
        label="Bulk jobs waiting"
        value={waitingJobs}
        note={bulk.paused > 0 ? `${bulk.paused.toLocaleString()} paused` : undefined}
      />
      <Figure
        label="Unmatched receipts"
        value={parkedReceipts}
        format={formatCappedCount}
        note="no message known yet"
      />
    </SimpleGrid>
  )
}

function QueueTable({ queues }: { queues: readonly QueueView[] }) {
  if (queues.length === 0) return <Text c="dimmed">No messages are waiting.</Text>
  return (
    <WideTable label="Queues by connection" minWidth={720}>
      <Table.Thead style={{ whiteSpace: 'nowrap' }}>
        <Table.Tr>
          <Table.Th>Connection</Table.Th>
          <Table.Th>Channels</Table.Th>
          <Table.Th ta="end">Due</Table.Th>
          <Table.Th ta="end">Scheduled</Table.Th>
          <Table.Th ta="end">Unknown</Table.Th>
          <Table.Th ta="end">Longest wait</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {queues.map(({ connectionId, name, channels, due, scheduled, unknown, lagMs }) => (
          <Table.Tr key={connectionId}>
            <Table.Td>
              {name === null ? (
                <span className="ph-mono">{connectionId} (deleted)</span>
              ) : (
                <Anchor component={Link} href={`/operator/connections/${connectionId}`} size="sm">
                  <bdi>{name}</bdi>
                </Anchor>
              )}
            </Table.Td>
            <Table.Td>{channels.map(channelName).join(', ')}</Table.Td>
            <Table.Td ta="end" className="ph-num">
              {formatCappedCount(due)}
            </Table.Td>
            <Table.Td ta="end" className="ph-num">
              {formatCappedCount(scheduled)}
            </Table.Td>
            <Table.Td ta="end" className="ph-num">
              {formatCappedCount(unknown)}
            </Table.Td>
            <Table.Td ta="end" className="ph-num">
              <StatusBadge status="lag" tone={toneOf(lagMs)} label={formatDelay(lagMs)} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  )
}

function toneOf(lagMs: number): 'good' | 'warn' | 'bad' {
  if (lagMs < SLOW_MS) return 'good'
  return lagMs < LATE_MS ? 'warn' : 'bad'
}

function formatDelay(ms: number): string {
  if (ms === 0) return 'None'
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / DAY_MS)} days`
}
