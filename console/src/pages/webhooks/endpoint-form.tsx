import { Checkbox, Modal, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { Listened, WebhookView, WebhookWithSecret } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { type ApiForm, ApiForm as FormAround, useApiForm } from '../../parts/api-form.tsx'
import { ANY, EVENT_GROUPS } from './event-types.ts'
import { WEBHOOKS } from './path.ts'

type Props = {
  /** Null for a new one. */
  webhook: WebhookView | null
  onClose: () => void
  onMade?: (webhook: WebhookWithSecret) => void
}
type Values = { url: string; description: string; all: boolean; events: Listened[] }

export function EndpointForm({ opened, ...props }: Props & { opened: boolean }) {
  return (
    <Modal
      opened={opened}
      onClose={props.onClose}
      title={props.webhook ? 'Change the endpoint' : 'New endpoint'}
      size="lg"
    >
      <Fields {...props} />
    </Modal>
  )
}

function Fields({ webhook, onClose, onMade }: Props) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm<Values, WebhookWithSecret | null>({
    initial: initialOf(webhook),
    async send(values, { url, description, all, events }) {
      const body = toBody(values)
      if (webhook === null) return (await api.post('/api/v2/webhooks', { body })).data.webhook
      const edited = {
        ...(url !== undefined && { url }),
        ...(description !== undefined && { description }),
        ...((all !== undefined || events !== undefined) && { events: body.events }),
      }
      await api.patch('/api/v2/webhooks/{id}', { path: { id: webhook.id }, body: edited })
      return null
    },
    onDone(made) {
      invalidate([WEBHOOKS])
      if (made) onMade?.(made)
      else onClose()
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <FormAround form={form} submitLabel={webhook ? 'Save' : 'Create the endpoint'}>
      <TextInput
        label="Address"
        description="https, at a public address"
        placeholder="https://example.com/posthorn"
        dir="ltr"
        autoComplete="off"
        data-autofocus
        {...getInputProps('url')}
      />
      <TextInput
        label="Description"
        description="For your own records"
        maxLength={500}
        {...getInputProps('description')}
      />
      <Checkbox
        label="Every event"
        description="Including those of later versions"
        {...getInputProps('all', { type: 'checkbox' })}
      />
      {!values.all && <Types fields={form.fields} />}
    </FormAround>
  )
}

function Types({ fields }: { fields: ApiForm<Values>['fields'] }) {
  return (
    <Checkbox.Group {...fields.getInputProps('events')} label="Events">
      <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs" spacing="lg">
        {EVENT_GROUPS.map(([group, types]) => (
          <Stack key={group} gap={6}>
            <Text size="xs" fw={600} c="dimmed">
              {group}
            </Text>
            {types.map(type => (
              <Checkbox key={type} value={type} label={type} size="xs" />
            ))}
          </Stack>
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

function initialOf(webhook: WebhookView | null): Values {
  if (webhook === null) return { url: '', description: '', all: true, events: [] }
  const { url, description, events } = webhook
  const all = events.includes(ANY)
  return { url, description, all, events: all ? [] : [...events] }
}

function toBody({ url, description, all, events }: Values) {
  return { url, description, events: all ? [ANY as Listened] : events }
}
