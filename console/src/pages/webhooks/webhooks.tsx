import { lazy } from 'react'
import { WebhookList } from './webhook-list.tsx'

const EndpointPage = lazy(() => import('./endpoint-page.tsx'))

/** The endpoints, or one of them with its deliveries. `/webhooks` itself is used by the server: providers call it. */
export default function Webhooks({ webhookId, deliveryId }: { webhookId?: string; deliveryId?: string }) {
  if (webhookId === undefined) return <WebhookList />
  return <EndpointPage key={webhookId} webhookId={webhookId} deliveryId={deliveryId ?? null} />
}
