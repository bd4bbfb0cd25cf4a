import { Progress, Skeleton, Table, Text } from '@mantine/core'
import type { StatsRow } from '../../../../sdk/index.ts'
import { formatShare } from '../../parts/format-share.ts'
import { formatMoney } from '../../parts/money.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

/** The figures of each country or channel, the busiest first. */
export function Breakdown({
  name,
  rows,
  nameOf,
}: {
  name: string
  rows: readonly StatsRow[] | undefined
  nameOf: (row: StatsRow) => string
}) {
  if (!rows) return <Skeleton h={160} m="md" w="auto" />
  return (
    <WideTable label={`By ${name.toLowerCase()}`} minWidth={560}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{name}</Table.Th>
          <Table.Th ta="end">Started</Table.Th>
          <Table.Th ta="end">Verified</Table.Th>
          <Table.Th w={150}>Conversion</Table.Th>
          <Table.Th ta="end">Cost</Table.Th>
          <Table.Th ta="end">Blocked</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className="ph-num">
        {rows
          .toSorted((left, right) => right.started - left.started)
          .map(row => (
            <Table.Tr key={nameOf(row)}>
              <Table.Td>{nameOf(row)}</Table.Td>
              <Table.Td ta="end">{row.started.toLocaleString()}</Table.Td>
              <Table.Td ta="end">{row.verified.toLocaleString()}</Table.Td>
              <Table.Td>
                <Conversion share={row.conversion} of={nameOf(row)} />
              </Table.Td>
              <Table.Td ta="end">{row.cost === 0 ? '–' : formatMoney(row.cost, row.currency)}</Table.Td>
              <Table.Td ta="end">{row.blocked === 0 ? '–' : row.blocked.toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </WideTable>
  )
}

function Conversion({ share, of }: { share: number | null; of: string }) {
  if (share === null)
    return (
      <Text span c="dimmed" size="sm">
        –
      </Text>
    )
  return (
    <span style={{ display: 'grid', gridTemplateColumns: '1fr 50px', alignItems: 'center', gap: 8 }}>
      <Progress value={share * 100} size="sm" color="verdigris.5" aria-label={`Conversion of ${of}`} />
      <span style={{ textAlign: 'end' }}>{formatShare(share)}</span>
    </span>
  )
}
