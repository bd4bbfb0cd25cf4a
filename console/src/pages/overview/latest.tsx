import { Anchor, Skeleton, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useMessageChanges } from '../../api/use-message-changes.ts'
import { useRead, useReadAgain } from '../../api/use-read.ts'
import { Card } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/context.tsx'
import classes from './latest.module.css'

const ROWS = 7

/** The last messages, as they come. */
export function Latest() {
  const { mode } = useSession()
  const messages = useRead('/api/v2/messages', { query: { mode, limit: ROWS } })
  const read = useReadAgain(messages)
  useMessageChanges({ mode }, { onChanged: read, read })
  const latest = messages.data?.data
  return (
    <Card
      title="Latest messages"
      flush
      aside={
        <Anchor component={Link} href="/messages" size="sm">
          All messages
        </Anchor>
      }
    >
      {messages.isPending && <Skeleton h={180} m="md" w="auto" />}
      {messages.error && (
        <Text c="dimmed" p="md">
          Cannot be loaded right now.
        </Text>
      )}
      {latest?.length === 0 && (
        <Text c="dimmed" p="md">
          No messages yet.
        </Text>
      )}
      {latest?.map(({ messageId, to, status, createdAt }) => (
        <Link key={messageId} href={`/messages/${messageId}`} className={classes.row}>
          <StatusBadge status={status} />
          <bdi className="ph-truncate ph-num">{to}</bdi>
          <span className={classes.when}>
            <Time at={createdAt} />
          </span>
        </Link>
      ))}
    </Card>
  )
}
