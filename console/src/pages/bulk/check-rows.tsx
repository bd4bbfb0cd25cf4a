import { Alert, SegmentedControl, Skeleton, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { Card } from '../../parts/page.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import type { OpenSheet } from './open-sheet.ts'
import type { Plan } from './plan.ts'
import type { Checked, ShownRow } from './sheet.ts'

/** The rows as they would be sent, with the errors that can be found here. */
export function CheckRows({ sheet, plan }: { sheet: OpenSheet; plan: Plan }) {
  const { data: checked } = useCheck(sheet, plan)
  const [shown, setShown] = useState<'first' | 'faulty' | null>(null)
  if (!checked) return <Skeleton h={360} />
  const view = shown ?? (checked.faulty > 0 ? 'faulty' : 'first')
  const rows = view === 'faulty' ? checked.withFaults : checked.first
  return (
    <>
      <Verdict checked={checked} />
      <Card
        title={view === 'faulty' ? 'Rows with errors' : 'The first rows'}
        flush
        aside={
          checked.faulty > 0 && (
            <SegmentedControl
              size="xs"
              aria-label="Rows to show"
              value={view}
              onChange={value => setShown(value as 'first' | 'faulty')}
              data={[
                { value: 'faulty', label: `With errors (${checked.faulty.toLocaleString()})` },
                { value: 'first', label: 'First rows' },
              ]}
            />
          )
        }
      >
        <Rows names={sheet.names} rows={rows} plan={plan} />
      </Card>
    </>
  )
}

export function useCheck(sheet: OpenSheet, plan: Plan) {
  return useQuery({
    queryKey: ['bulk-check', sheet.file.name, sheet.file.size, sheet.file.lastModified, plan],
    queryFn: () => sheet.check(plan),
    gcTime: 0,
  })
}

function Verdict({ checked: { rows, faulty, repeated } }: { checked: Checked }) {
  const repeatedNote =
    repeated === 0
      ? null
      : `${repeated.toLocaleString()} ${repeated === 1 ? 'row repeats' : 'rows repeat'} the recipient of another row.`
  if (faulty === 0) {
    return (
      <Alert
        variant="light"
        color="verdigris"
        icon={<CircleCheck size={16} />}
        title={`${rows.toLocaleString()} ${rows === 1 ? 'row looks' : 'rows look'} good`}
      >
        The server checks every row in full before it sends the first message. {repeatedNote}
      </Alert>
    )
  }
  return (
    <Alert
      variant="light"
      color="brass"
      icon={<CircleAlert size={16} />}
      title={`${faulty.toLocaleString()} of ${rows.toLocaleString()} rows cannot be sent because of errors`}
      role="alert"
    >
      Correct the file and start again, assign the columns differently, or continue without these rows.{' '}
      {repeatedNote}
    </Alert>
  )
}

function Rows({ names, rows, plan }: { names: readonly string[]; rows: readonly ShownRow[]; plan: Plan }) {
  const used = names.map((name, at) => ({ name, at })).filter(({ at }) => plan.columns[at] !== null)
  return (
    <WideTable label="Rows" minWidth={520} maxHeight={460} stickyHeader>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={70}>Line</Table.Th>
          {used.map(({ name, at }) => (
            <Table.Th key={at}>
              <bdi>{name}</bdi>
            </Table.Th>
          ))}
          <Table.Th>Error</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ line, cells, faults }) => (
          <Table.Tr key={line}>
            <Table.Td className="ph-num" c="dimmed">
              {line.toLocaleString()}
            </Table.Td>
            {used.map(({ at }) => (
              <Table.Td
                key={at}
                maw={280}
                className="ph-truncate"
                bg={faults.some(({ column }) => column === at) ? 'var(--mantine-color-red-light)' : undefined}
              >
                <bdi>{cells[at] || '–'}</bdi>
              </Table.Td>
            ))}
            <Table.Td>
              {faults.map(({ column, message }) => (
                <Text key={`${column} ${message}`} size="sm" c="var(--ph-bad)">
                  {column === null ? 'The row' : names[column]} {message}
                </Text>
              ))}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  )
}
