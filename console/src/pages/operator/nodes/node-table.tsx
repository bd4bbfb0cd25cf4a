import { Table } from '@mantine/core'
import type { NodeView } from '../../../../../sdk/index.ts'
import { formatCappedCount } from '../../../parts/format-count.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { WideTable } from '../../../parts/wide-table.tsx'
import { AccountLink } from '../account-names.tsx'

export function NodeTable({ nodes }: { nodes: readonly NodeView[] }) {
  return (
    <WideTable label="Nodes" minWidth={760}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Node</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>Started</Table.Th>
          <Table.Th>Seen</Table.Th>
          <Table.Th ta="end">Messages held</Table.Th>
          <Table.Th>Bulk lanes for</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {nodes.map(node => (
          <Table.Tr key={node.id}>
            <Table.Td>
              <span className="ph-mono">{node.id}</span> <bdi>{node.host}</bdi>
              {node.current && ' (this one)'}
            </Table.Td>
            <Table.Td>
              <StatusBadge status={node.alive ? 'up' : 'down'} label={node.alive ? 'Alive' : 'Gone'} />
            </Table.Td>
            <Table.Td>
              <Time at={node.startedAt} />
            </Table.Td>
            <Table.Td>
              <Time at={node.seenAt} />
            </Table.Td>
            <Table.Td ta="end" className="ph-num">
              {formatCappedCount(node.holds)}
            </Table.Td>
            <Table.Td>
              <Lanes lanes={node.lanes} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  )
}

function Lanes({ lanes }: Pick<NodeView, 'lanes'>) {
  if (lanes.length === 0) return <span style={{ color: 'var(--ph-quiet)' }}>None</span>
  return lanes.map(({ accountId, accountName, fence }) => (
    <div key={accountId}>
      <AccountLink id={accountId} name={accountName} /> <span className="ph-num">(fence {fence})</span>
    </div>
  ))
}
