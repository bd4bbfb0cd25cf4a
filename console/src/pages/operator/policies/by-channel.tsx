import { Table, Text } from '@mantine/core'
import type { AdminPolicy } from '../../../../../sdk/index.ts'
import { CHANNELS, channelName } from '../../../parts/channel-name.ts'
import { Card } from '../../../parts/page.tsx'
import { typeName } from '../../../parts/type-name.ts'
import { WideTable } from '../../../parts/wide-table.tsx'

/** What each connection carries over a channel, how, and how often it is tried. */
export function ByChannel({ policies }: { policies: readonly AdminPolicy[] }) {
  const used = CHANNELS.filter(channel => policies.some(policy => policy.channel === channel))
  return (
    <Card title="Message types by channel" flush>
      <WideTable label="Policies by channel" minWidth={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Channel</Table.Th>
            <Table.Th>Connection</Table.Th>
            <Table.Th>Message types</Table.Th>
            <Table.Th>Approved templates</Table.Th>
            <Table.Th ta="end">Attempts</Table.Th>
            <Table.Th ta="end">Retry delay</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {used.map(channel => (
            <ChannelRows
              key={channel}
              name={channelName(channel)}
              policies={policies.filter(policy => policy.channel === channel)}
            />
          ))}
        </Table.Tbody>
      </WideTable>
    </Card>
  )
}

function ChannelRows({ name, policies }: { name: string; policies: readonly AdminPolicy[] }) {
  return policies.map((policy, at) => (
    <Table.Tr key={policy.connectionId}>
      {at === 0 && (
        <Table.Td rowSpan={policies.length} fw={500} style={{ verticalAlign: 'top' }}>
          {name}
        </Table.Td>
      )}
      <Table.Td>
        <bdi>{policy.connectionName}</bdi>
        {!policy.enabled && (
          <Text span size="sm" c="dimmed">
            {' '}
            (disabled)
          </Text>
        )}
      </Table.Td>
      <Table.Td>{policy.allowedTypes.map(typeName).join(', ')}</Table.Td>
      <Table.Td>{templatesOf(policy)}</Table.Td>
      <Table.Td ta="end" className="ph-num">
        {policy.retryPolicy.maxAttempts}
      </Table.Td>
      <Table.Td ta="end" className="ph-num" style={{ whiteSpace: 'nowrap' }}>
        {policy.retryPolicy.backoffMs.toLocaleString()} ms
      </Table.Td>
    </Table.Tr>
  ))
}

function templatesOf({ requiresApprovedTemplate, sendModeByType, allowedTypes }: AdminPolicy): string {
  if (requiresApprovedTemplate) return 'Always'
  const may = allowedTypes.filter(type => sendModeByType[type] === 'template_optional')
  if (may.length === 0) return '–'
  return may.length === allowedTypes.length ? 'If the message names one' : may.map(typeName).join(', ')
}
