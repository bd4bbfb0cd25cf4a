import { Anchor, Button, Skeleton, Stack } from '@mantine/core'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction, useRead } from '../../api/use-read.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Page } from '../../parts/page.tsx'
import { notifyDone, notifyFault } from '../../parts/toast.tsx'
import { useGo } from '../../parts/use-go.ts'
import { useShowOnce } from '../../parts/use-show-once.tsx'
import { Deliveries } from './deliveries.tsx'
import { DeliveryPanel } from './delivery-panel.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { EndpointMenu } from './endpoint-menu.tsx'
import { WEBHOOKS } from './path.ts'
import { SecretDialog } from './secret-dialog.tsx'
import { EndpointState } from './webhook-list.tsx'

const POLL_EVERY_MS = 5_000

const BACK = (
  <Anchor component={Link} href="/endpoints" size="sm">
    All endpoints
  </Anchor>
)

/** One endpoint and its deliveries. */
export default function EndpointPage({
  webhookId,
  deliveryId,
}: {
  webhookId: string
  deliveryId: string | null
}) {
  const go = useGo()
  const path = { id: webhookId }
  const read = useRead('/api/v2/webhooks/{id}', { path }, { everyMs: POLL_EVERY_MS, inBothModes: true })
  const [secret, setSecret] = useState<string | null>(null)
  const showOnce = useShowOnce()
  const test = useAction(api => api.post('/api/v2/webhooks/{id}/test', { path }), {
    changes: [WEBHOOKS],
    onDone: () => notifyDone('A test event (webhook.test) is on its way.'),
  })
  const open = (id: string | null) =>
    go(`/endpoints/${webhookId}${id === null ? '' : `/${id}`}${location.search}`)
  const webhook = read.data?.data
  if (!webhook) {
    return (
      <Page title="Endpoint" lead={BACK}>
        {read.error ? <ReadFault error={read.error} retry={read.refetch} /> : <Skeleton h={420} />}
      </Page>
    )
  }
  return (
    <Page
      title={webhook.url}
      lead={BACK}
      actions={
        <>
          <EndpointState webhook={webhook} />
          <Button
            variant="default"
            leftSection={<Send size={15} />}
            loading={test.isPending}
            disabled={!webhook.enabled}
            onClick={() => test.mutate(undefined, { onError: notifyFault })}
          >
            Send a test
          </Button>
          <EndpointMenu
            webhook={webhook}
            onSecret={made => showOnce('The endpoint’s new secret', made, () => setSecret(made))}
            onDeleted={() => go('/endpoints')}
          />
        </>
      }
    >
      <Stack gap="lg">
        <EndpointFacts webhook={webhook} />
        <Deliveries webhook={webhook} opened={deliveryId} onOpen={open} />
      </Stack>
      <DeliveryPanel webhook={webhook} deliveryId={deliveryId} onClose={() => open(null)} onOpen={open} />
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </Page>
  )
}
