import { Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import type { AdminSender } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { SENDERS } from './paths.ts'

const MAX_ROWS = 100

/** The other names that the account has requested, with the decisions. */
export function OtherSenders({ sender, accountId }: { sender: AdminSender; accountId: string }) {
  const read = useRead(SENDERS, { query: { accountId, limit: MAX_ROWS } })
  const others = read.data?.data.filter(({ id }) => id !== sender.id)
  return (
    <section>
      <Title order={3} size="h4" mb="xs">
        Other names of the account
      </Title>
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!read.error && !others && <Skeleton h={40} />}
      {others?.length === 0 && <Text c="dimmed">None: this is their first request.</Text>}
      <Stack gap={8}>
        {others?.map(({ id, name, status, reason }) => (
          <div key={id}>
            <Group justify="space-between" gap="sm" wrap="nowrap">
              <Text size="sm" fw={500}>
                <bdi>{name}</bdi>
              </Text>
              <StatusBadge status={status} />
            </Group>
            {reason !== null && (
              <Text size="xs" c="dimmed" className="ph-words">
                {reason}
              </Text>
            )}
          </div>
        ))}
      </Stack>
    </section>
  )
}
