import { ActionIcon, Anchor, Group, Table } from '@mantine/core'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { Link } from 'wouter'
import { useAction } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { notifyDone, notifyFault } from '../../../parts/toast.tsx'
import { WideTable } from '../../../parts/wide-table.tsx'
import { AccountName, useAccountNames } from '../account-names.tsx'
import { CONNECTIONS } from '../connections/paths.ts'
import { type OrderedConnection, orderChanges, orderedConnections } from './order.ts'
import { POLICIES } from './paths.ts'

/** By one place: -1 is earlier. */
type Move = { id: string; by: -1 | 1 }

/** Every connection at its place; it is moved for all its channels at once. */
export function OrderTable({ placed }: { placed: readonly OrderedConnection[] }) {
  const names = useAccountNames()
  const move = useAction(
    async (api, { id, by }: Move) => {
      // In the order of now: the last click, or another operator, may have changed it since it was read here.
      const { data } = await api.get(POLICIES)
      const current = orderedConnections(data)
      const from = current.findIndex(each => each.id === id)
      // One by one: if one fails, the order is still consistent.
      for (const change of orderChanges(current, from, from + by).toReversed())
        await api.patch('/api/admin/connections/{id}', {
          path: { id: change.id },
          body: { priorityOrder: change.order },
        })
      return current[from + by] && current[from]?.name
    },
    {
      changes: [POLICIES, CONNECTIONS],
      onDone(name, { by }) {
        if (name !== undefined) notifyDone(`${name} is tried ${by < 0 ? 'earlier' : 'later'} now.`)
      },
    },
  )
  return (
    <WideTable label="Order of connections" minWidth={760}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={70} ta="end">
            Order
          </Table.Th>
          <Table.Th>Connection</Table.Th>
          <Table.Th>Channels</Table.Th>
          <Table.Th>Account</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th w={90}>
            <span className="ph-unseen">Move</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {placed.map(({ id, name, provider, order, channels, accountId, enabled }, at) => (
          <Table.Tr key={id}>
            <Table.Td ta="end" className="ph-num">
              {order.toLocaleString()}
            </Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>
              <Anchor component={Link} href={`/operator/connections/${id}`} size="sm">
                <bdi>{name}</bdi>
              </Anchor>{' '}
              <span style={{ color: 'var(--ph-quiet)' }}>{provider}</span>
            </Table.Td>
            <Table.Td>{channels.map(channelName).join(', ')}</Table.Td>
            <Table.Td style={{ whiteSpace: 'nowrap' }}>
              {accountId === null ? 'Every account' : <AccountName id={accountId} names={names} />}
            </Table.Td>
            <Table.Td>
              <StatusBadge status={enabled ? 'active' : 'disabled'} />
            </Table.Td>
            <Table.Td>
              <Group gap={4} wrap="nowrap" justify="flex-end">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Try ${name} earlier`}
                  disabled={at === 0 || move.isPending}
                  onClick={() => move.mutate({ id, by: -1 }, { onError: notifyFault })}
                >
                  <ArrowUp size={15} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Try ${name} later`}
                  disabled={at === placed.length - 1 || move.isPending}
                  onClick={() => move.mutate({ id, by: 1 }, { onError: notifyFault })}
                >
                  <ArrowDown size={15} />
                </ActionIcon>
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  )
}
