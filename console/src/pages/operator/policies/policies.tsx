import { Skeleton, Stack, Text } from '@mantine/core'
import type { AdminPolicy } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Card, Page } from '../../../parts/page.tsx'
import { ByChannel } from './by-channel.tsx'
import { channelOrder, orderedConnections } from './order.ts'
import { OrderTable } from './order-table.tsx'
import { POLICIES } from './paths.ts'

const POLL_EVERY_MS = 10_000

/** In which order connections are tried, and what each of them carries. */
export default function Policies() {
  const read = useRead(POLICIES, undefined, { everyMs: POLL_EVERY_MS })
  const policies = read.data?.data
  return (
    <Page
      title="Policies"
      lead="Of the connections that can carry a message, the first one here is tried, and the next one only after it has definitely refused."
    >
      {!policies && read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!policies && !read.error && <Skeleton h={360} />}
      {policies && (
        <Stack gap="lg">
          <Card title="Order" flush>
            <OrderTable placed={orderedConnections(policies)} />
            <Routing policies={policies} />
          </Card>
          <ByChannel policies={policies} />
        </Stack>
      )}
    </Page>
  )
}

function Routing({ policies }: { policies: readonly AdminPolicy[] }) {
  const order = channelOrder(policies)
  if (order.length === 0) return null
  return (
    <Text size="sm" c="dimmed" p="md" style={{ borderTop: '1px solid var(--ph-line)' }}>
      If a message names no channel, the channels that suit its recipient and type are tried in this order:{' '}
      {order.map(channelName).join(', ')}. An account can order the channels for its codes by conversion
      instead.
    </Text>
  )
}
