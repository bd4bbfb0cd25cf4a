import { lazy } from 'react'
import { WebhookList } from './webhook-list.tsx'

const EndpointPage = lazy(() => import('./endpoint-page.tsx'))

/** The endpoints; one of them with what was sent to it. `/webhooks` itself is where providers call. */
export default function Webhooks({ webhookId, deliveryId }: { webhookId?: string; deliveryId?: string }) {
  if (webhookId === undefined) return <WebhookList />
  return <EndpointPage key={webhookId} webhookId={webhookId} deliveryId={deliveryId ?? null} />
}
