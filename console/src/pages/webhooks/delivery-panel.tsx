import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { RotateCw } from 'lucide-react'
import type { DeliveryWithPayload, WebhookView } from '../../../../sdk/index.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { Snippet } from '../../parts/code.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { MessageLink } from '../../parts/message-link.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { MaybeTime, Time } from '../../parts/time.tsx'
import { notifyFault } from '../../parts/toast.tsx'
import { WEBHOOKS } from './path.ts'

const POLL_EVERY_MS = 2_000

/** One delivery: the request, the response, and a button to repeat it. */
export function DeliveryPanel({
  webhook,
  deliveryId,
  onClose,
  onOpen,
}: {
  webhook: WebhookView
  deliveryId: string | null
  onClose: () => void
  onOpen: (id: string) => void
}) {
  const path = { id: webhook.id, deliveryId: deliveryId ?? '' }
  const read = useRead(
    '/api/v2/webhooks/{id}/deliveries/{deliveryId}',
    { path },
    { enabled: deliveryId !== null, everyMs: POLL_EVERY_MS, keepsDigits: true },
  )
  const replay = useAction(
    api => api.post('/api/v2/webhooks/{id}/deliveries/{deliveryId}/replay', { path }),
    {
      changes: [WEBHOOKS],
      onDone: ({ data }) => onOpen(data.delivery.id),
    },
  )
  const delivery = deliveryId === null ? undefined : read.data?.data
  return (
    <SidePanel
      opened={deliveryId !== null}
      onClose={onClose}
      title={delivery ? <span className="ph-mono">{delivery.eventType}</span> : 'Delivery'}
      aside={delivery && <StatusBadge status={delivery.status} />}
      foot={
        delivery && (
          <Button
            variant="default"
            leftSection={<RotateCw size={15} />}
            loading={replay.isPending}
            disabled={!webhook.enabled}
            onClick={() => replay.mutate(undefined, { onError: notifyFault })}
          >
            Send it again
          </Button>
        )
      }
    >
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!delivery && !read.error && <Skeleton h={320} />}
      {delivery && <Details delivery={delivery} />}
    </SidePanel>
  )
}

function Details({ delivery }: { delivery: DeliveryWithPayload }) {
  const { payload, messageId, lastStatus, lastError, attempts } = delivery
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          ['Response', lastStatus === null ? '–' : `HTTP ${lastStatus}`],
          lastError === null
            ? null
            : [
                'Error',
                <span key="e" className="ph-words">
                  {lastError}
                </span>,
              ],
          ['Attempts', attempts],
          ['Created', <Time key="m" at={delivery.createdAt} />],
          delivery.lastAttemptAt === null
            ? null
            : ['Last attempt', <Time key="l" at={delivery.lastAttemptAt} />],
          delivery.nextAttemptAt === null
            ? null
            : ['Next attempt', <MaybeTime key="n" at={delivery.nextAttemptAt} />],
          [
            'webhook-id',
            <span key="w" className="ph-mono">
              {delivery.eventId}
            </span>,
          ],
          messageId === null ? null : ['Message', <MessageLink key="msg" id={messageId} />],
          delivery.replayOf === null
            ? null
            : [
                'Replay of',
                <span key="r" className="ph-mono">
                  {delivery.replayOf}
                </span>,
              ],
        ]}
      />
      {payload ? (
        <div>
          <Text size="sm" fw={600} mb={6}>
            Payload
          </Text>
          <Snippet code={JSON.stringify(payload, null, 2)} label="The payload" />
        </div>
      ) : (
        <Text c="dimmed">The payload is no longer stored.</Text>
      )}
    </Stack>
  )
}
