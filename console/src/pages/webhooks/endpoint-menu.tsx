import { Menu } from '@mantine/core'
import { History, KeyRound, Pencil, Power, PowerOff, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { WebhookView } from '../../../../sdk/index.ts'
import { useAction } from '../../api/use-read.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { notifyDone, notifyFault } from '../../parts/toast.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { WEBHOOKS } from './path.ts'
import { ReplayRange } from './replay-range.tsx'

type Asked = 'change' | 'replay' | 'rotate' | 'delete' | null

export function EndpointMenu({
  webhook,
  onSecret,
  onDeleted,
}: {
  webhook: WebhookView
  onSecret: (secret: string) => void
  onDeleted: () => void
}) {
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => setAsked(null)
  const { rotate, enable, remove } = useEndpointActions(webhook, onSecret, onDeleted)
  return (
    <>
      <ActionMenu label="Actions for the endpoint" variant="default" size="lg">
        <Menu.Item leftSection={<Pencil size={15} />} onClick={() => setAsked('change')}>
          Change
        </Menu.Item>
        <Menu.Item
          leftSection={<History size={15} />}
          disabled={!webhook.enabled}
          onClick={() => setAsked('replay')}
        >
          Replay a period
        </Menu.Item>
        <Menu.Item leftSection={<KeyRound size={15} />} onClick={() => setAsked('rotate')}>
          Rotate the secret
        </Menu.Item>
        <Menu.Item
          leftSection={webhook.enabled ? <PowerOff size={15} /> : <Power size={15} />}
          onClick={() => enable.mutate(!webhook.enabled, { onError: notifyFault })}
        >
          {webhook.enabled ? 'Disable' : 'Enable'}
        </Menu.Item>
        <Menu.Item
          leftSection={<Trash2 size={15} />}
          color="var(--ph-bad)"
          onClick={() => setAsked('delete')}
        >
          Delete
        </Menu.Item>
      </ActionMenu>
      <EndpointForm opened={asked === 'change'} webhook={webhook} onClose={close} />
      <ReplayRange opened={asked === 'replay'} webhook={webhook} onClose={close} />
      <ConfirmDialog
        opened={asked === 'rotate'}
        onClose={close}
        title="Rotate the secret?"
        text="A new secret is created and shown once. The previous one stays valid for 24 hours, so that you can replace it at your receiver."
        confirmLabel="Rotate the secret"
        danger={false}
        run={() => rotate.mutateAsync(undefined)}
      />
      <ConfirmDialog
        opened={asked === 'delete'}
        onClose={close}
        title="Delete this endpoint?"
        text="Nothing is sent to it any more, and waiting deliveries are discarded."
        confirmLabel="Delete the endpoint"
        run={() => remove.mutateAsync(undefined)}
      />
    </>
  )
}

function useEndpointActions({ id }: WebhookView, onSecret: (secret: string) => void, onDeleted: () => void) {
  const path = { id }
  const changes = [WEBHOOKS]
  const rotate = useAction(api => api.post('/api/v2/webhooks/{id}/rotate', { path }), {
    changes,
    onDone: ({ data }) => onSecret(data.secret),
  })
  const enable = useAction(
    (api, enabled: boolean) => api.patch('/api/v2/webhooks/{id}', { path, body: { enabled } }),
    {
      changes,
      onDone: ({ data }) =>
        notifyDone(data.enabled ? 'The endpoint is enabled.' : 'The endpoint is disabled.'),
    },
  )
  const remove = useAction(api => api.delete('/api/v2/webhooks/{id}', { path }), {
    changes,
    onDone() {
      notifyDone('The endpoint is deleted.')
      onDeleted()
    },
  })
  return { rotate, enable, remove }
}
