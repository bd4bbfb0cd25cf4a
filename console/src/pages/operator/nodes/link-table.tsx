import { Anchor, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { LinkView } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { WideTable } from '../../../parts/wide-table.tsx'
import { CONNECTIONS, MAX_CONNECTIONS } from '../connections/paths.ts'
import { CIRCUIT_LABELS, CIRCUIT_TONES, LINK_LABELS } from '../link-labels.ts'

export function LinkTable({ links }: { links: readonly LinkView[] }) {
  const connections = useRead(CONNECTIONS, { query: { limit: MAX_CONNECTIONS } })
  const names = new Map(connections.data?.data.map(({ id, name }) => [id, name]))
  if (links.length === 0) {
    return <Text c="dimmed">No link is open: a link opens with the first message that needs it.</Text>
  }
  return (
    <WideTable label="Links" minWidth={760}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Connection</Table.Th>
          <Table.Th>Provider</Table.Th>
          <Table.Th>Link</Table.Th>
          <Table.Th>Circuit</Table.Th>
          <Table.Th ta="end">In flight</Table.Th>
          <Table.Th ta="end">Waiting</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {links.map(({ connectionId, provider, link, circuit, detail, inFlight, waiting, resting }) => (
          <Table.Tr key={connectionId}>
            <Table.Td>
              <Anchor component={Link} href={`/operator/connections/${connectionId}`} size="sm">
                <bdi>{names.get(connectionId) ?? connectionId}</bdi>
              </Anchor>
            </Table.Td>
            <Table.Td>{provider}</Table.Td>
            <Table.Td title={detail}>
              <StatusBadge status={link} label={LINK_LABELS[link]} />
              {resting && ' (paused)'}
            </Table.Td>
            <Table.Td>
              <StatusBadge status={circuit} tone={CIRCUIT_TONES[circuit]} label={CIRCUIT_LABELS[circuit]} />
            </Table.Td>
            <Table.Td ta="end" className="ph-num">
              {inFlight.toLocaleString()}
            </Table.Td>
            <Table.Td ta="end" className="ph-num">
              {waiting.toLocaleString()}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  )
}
