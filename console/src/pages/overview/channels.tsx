import { Skeleton, Table, Text } from '@mantine/core'
import type { Channel, MessageStats, ProviderMessagePolicy } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { formatShare } from '../../parts/format-share.ts'
import { Card } from '../../parts/page.tsx'
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { useSession } from '../../session/context.tsx'
import { carriersOf, isSandbox } from './carriers.ts'
import type { spanOf } from './period.ts'

/** A failure rate from which a channel is highlighted. */
const POOR = 0.1

/** The delivery rate of each channel; for those who may send, also its connections. */
export function Channels({ span }: { span: ReturnType<typeof spanOf> }) {
  const { can, mode } = useSession()
  const maySend = can('messages:create')
  const stats = useRead('/api/v2/stats', { query: { ...span, groupBy: 'channel' } })
  const policies = useRead('/api/v2/messages/policies', undefined, { enabled: maySend })
  if (!stats.data || (maySend && !policies.data))
    return (
      <Card title="Channels">
        {(stats.error ?? policies.error) ? (
          <Text c="dimmed">Cannot be loaded right now.</Text>
        ) : (
          <Skeleton h={180} />
        )}
      </Card>
    )
  const totals = totalsOf(stats.data.data)
  const all = policies.data?.data
  return (
    <Card title="Channels" flush>
      <WideTable label="Channels" minWidth={420}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Channel</Table.Th>
            {all && <Table.Th>Providers</Table.Th>}
            <Table.Th ta="end">Sent</Table.Th>
            <Table.Th ta="end">Delivered</Table.Th>
            <Table.Th ta="end">Failed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="ph-num">
          {CHANNELS.map(channel => {
            const own = totals.get(channel)
            return (
              <Table.Tr key={channel}>
                <Table.Td>{channelName(channel)}</Table.Td>
                {all && (
                  <Table.Td>
                    <Health own={own} carriers={carriersOf(channel, mode, all)} />
                  </Table.Td>
                )}
                <Table.Td ta="end">{(own?.sent ?? 0).toLocaleString()}</Table.Td>
                <Table.Td ta="end">{share(own?.delivered, own)}</Table.Td>
                <Table.Td ta="end">{share(own && own.failed + own.undelivered, own)}</Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </WideTable>
    </Card>
  )
}

function Health(of: { own: Totals | undefined; carriers: readonly ProviderMessagePolicy[] }) {
  const { text, tone } = healthOf(of.own, of.carriers)
  return <StatusBadge status={text} tone={tone} label={text} />
}

type Totals = { sent: number; delivered: number; undelivered: number; failed: number }

function totalsOf({ rows }: MessageStats): Map<Channel, Totals> {
  const totals = new Map<Channel, Totals>()
  for (const row of rows) {
    if (row.channel === null) continue
    const own = totals.get(row.channel) ?? { sent: 0, delivered: 0, undelivered: 0, failed: 0 }
    own.sent += row.sent
    own.delivered += row.delivered
    own.undelivered += row.undelivered
    own.failed += row.failed
    totals.set(row.channel, own)
  }
  return totals
}

function healthOf(
  own: Totals | undefined,
  carriers: readonly ProviderMessagePolicy[],
): { text: string; tone: Tone } {
  if (carriers.length === 0) return { text: 'None', tone: 'still' }
  const text = [...new Set(carriers.map(policy => policy.providerKey))].join(', ')
  const known = own ? own.delivered + own.undelivered + own.failed : 0
  const poor = own !== undefined && known > 0 && (own.failed + own.undelivered) / known > POOR
  if (poor) return { text, tone: 'warn' }
  return { text, tone: carriers.some(isSandbox) ? 'still' : 'good' }
}

function share(part: number | undefined, own: Totals | undefined): string {
  const known = own ? own.delivered + own.undelivered + own.failed : 0
  return part === undefined || known === 0 ? '–' : formatShare(part / known)
}
