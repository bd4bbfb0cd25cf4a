import { Button, Text } from '@mantine/core'
import { Plus, Webhook } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { WebhookView } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useShowOnce } from '../../parts/use-show-once.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { ANY, isFamily } from './event-types.ts'
import { WEBHOOKS } from './path.ts'
import { SecretDialog } from './secret-dialog.tsx'

const POLL_EVERY_MS = 10_000

export function WebhookList() {
  const [, go] = useLocation()
  const webhooks = useReadPages(WEBHOOKS, {}, { everyMs: POLL_EVERY_MS })
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null)
  const showOnce = useShowOnce()
  return (
    <Page
      title="Webhooks"
      lead="URLs of yours that are called when an event happens, signed according to Standard Webhooks."
      actions={
        <Button leftSection={<Plus size={16} />} onClick={() => setMaking(true)}>
          New endpoint
        </Button>
      }
    >
      <DataList
        label="Webhook endpoints"
        read={webhooks}
        columns={COLUMNS}
        rowKey={webhook => webhook.id}
        onOpen={webhook => go(`/endpoints/${webhook.id}`)}
        empty={
          <EmptyNote
            icon={Webhook}
            title="No endpoints yet"
            text="An endpoint notifies your program of deliveries, verifications and incoming messages as they happen."
            action={<Button onClick={() => setMaking(true)}>New endpoint</Button>}
          />
        }
      />
      <EndpointForm
        opened={making}
        webhook={null}
        onClose={() => setMaking(false)}
        onMade={({ id, secret }) => {
          setMaking(false)
          showOnce('The endpoint’s secret', secret, () => setMade({ id, secret }))
        }}
      />
      <SecretDialog
        secret={made?.secret ?? null}
        onClose={() => {
          if (made) go(`/endpoints/${made.id}`)
          setMade(null)
        }}
      />
    </Page>
  )
}

const COLUMNS: readonly Column<WebhookView>[] = [
  {
    title: 'Address',
    width: 'minmax(200px, 2.4fr)',
    render: ({ url }) => (
      <Text span size="sm" fw={500} dir="ltr">
        {url}
      </Text>
    ),
  },
  {
    title: 'Description',
    width: 'minmax(120px, 1fr)',
    wideOnly: true,
    render: ({ description }) => <bdi>{description}</bdi>,
  },
  { title: 'Events', width: 'minmax(140px, 1.2fr)', wideOnly: true, render: eventsLabel },
  { title: 'State', width: '110px', render: webhook => <EndpointState webhook={webhook} /> },
  {
    title: 'Created',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]

export function EndpointState({ webhook: { enabled, failingSince } }: { webhook: WebhookView }) {
  if (!enabled) return <StatusBadge status="disabled" />
  return failingSince === null ? <StatusBadge status="active" /> : <StatusBadge status="failing" tone="bad" />
}

export function eventsLabel({ events }: WebhookView): string {
  if (events.includes(ANY)) return 'Everything'
  if (events.length === 1) return events[0]!
  return `${events.length} ${events.some(isFamily) ? 'kinds' : 'types'} of events`
}
