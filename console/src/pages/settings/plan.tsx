import { Progress, Stack, Text } from '@mantine/core'
import type { AccountView } from '../../../../sdk/index.ts'
import { channelName } from '../../parts/channel-name.ts'
import { Card } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { formatDay } from '../../parts/time.tsx'

type Pool = AccountView['plan']['pool'][number]

/** The plan's included messages, and how many are used. */
export function Plan({ plan }: Pick<AccountView, 'plan'>) {
  return (
    <Card
      title={
        <>
          Plan: <bdi>{plan.name}</bdi>
        </>
      }
      aside={<StatusBadge status={plan.status} />}
    >
      <Stack>
        {plan.pool.length === 0 && (
          <Text c="dimmed">The plan includes no messages: each is paid from the wallet.</Text>
        )}
        {plan.pool.map(pool => (
          <PoolLine key={pool.channels.join()} pool={pool} />
        ))}
        <Text size="sm" c="dimmed">
          {plan.allowsScheduling ? 'Messages may be scheduled.' : 'The plan does not allow scheduling.'}
        </Text>
      </Stack>
    </Card>
  )
}

function PoolLine({ pool: { channels, limit, used, resetsAt } }: { pool: Pool }) {
  const names = channels.map(channelName).join(', ')
  return (
    <div>
      <Text size="sm" fw={600}>
        {names}
      </Text>
      <Progress
        my={6}
        value={limit === 0 ? 100 : Math.min(100, (100 * used) / limit)}
        color={used >= limit ? 'var(--ph-bad)' : 'verdigris'}
        aria-label={`Used of ${names}`}
      />
      <Text size="xs" c="dimmed" className="ph-num">
        {used.toLocaleString()} of {limit.toLocaleString()} used; resets on {formatDay(resetsAt)}
      </Text>
    </div>
  )
}
