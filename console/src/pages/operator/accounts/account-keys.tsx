import { Table, Text } from '@mantine/core'
import type { ApiKey } from '../../../../../sdk/index.ts'
import { Card } from '../../../parts/page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { MaybeTime } from '../../../parts/time.tsx'
import { WideTable } from '../../../parts/wide-table.tsx'
import { stateOf } from '../../keys/key-state.ts'

/** Which keys there are; the account's owner makes and revokes them. */
export function AccountKeys({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <Card title="API keys" flush={keys.length > 0}>
      {keys.length === 0 ? (
        <Text c="dimmed">None: its owner makes one under API keys.</Text>
      ) : (
        <WideTable label="API keys of the account" minWidth={560}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Key</Table.Th>
              <Table.Th>Mode</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Last used</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map(key => (
              <Table.Tr key={key.id}>
                <Table.Td>
                  <bdi>{key.name}</bdi>
                </Table.Td>
                <Table.Td className="ph-mono">{key.prefix}…</Table.Td>
                <Table.Td>
                  <StatusBadge status={key.mode} tone={key.mode === 'live' ? 'good' : 'warn'} />
                </Table.Td>
                <Table.Td>
                  <StatusBadge status={stateOf(key)} />
                </Table.Td>
                <Table.Td>
                  <MaybeTime at={key.lastUsedAt} none="Never" />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      )}
    </Card>
  )
}
