import { Checkbox, Input, Modal, SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import type { Permission } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useForget } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { useSession } from '../../session/context.tsx'

type Props = { opened: boolean; onClose: () => void; onMade: (apiKey: string) => void }

const SCOPES: readonly (readonly [Permission, string])[] = [
  ['messages:create', 'Send, verify, manage templates and webhooks'],
  ['messages:read', 'Read messages and bulk jobs'],
  ['api_keys:read', 'List keys'],
  ['api_keys:write', 'Make, rotate and revoke keys'],
]
const LIVES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]
const DAY_MS = 86_400_000

export function CreateKey({ opened, ...props }: Props) {
  return (
    <Modal opened={opened} onClose={props.onClose} title="New API key">
      <CreateForm {...props} />
    </Modal>
  )
}

function CreateForm({ onMade }: Omit<Props, 'opened'>) {
  const api = useApi()
  const forget = useForget()
  const { mode, may } = useSession()
  const form = useApiForm({
    initial: {
      name: '',
      mode,
      role: 'member' as 'member' | 'owner',
      permissions: ['messages:create', 'messages:read'] as Permission[],
      days: '',
    },
    send: ({ days, ...body }) =>
      api.post('/api/v2/api-keys', {
        body: {
          ...body,
          ...(days !== '' && { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
        },
      }),
    fieldOf: path => (path === 'expiresAt' ? 'days' : path.replace(/\[\d+\]$/, '')),
    onDone({ data }) {
      forget(['/api/v2/api-keys'])
      onMade(data.apiKey)
    },
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Make the key">
      <TextInput
        label="Name"
        description="What will use it: “Shop backend”"
        data-autofocus
        {...getInputProps('name')}
      />
      <Input.Wrapper label="Mode" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Mode of the key"
          data={[
            { value: 'test', label: 'Test: sandbox alone' },
            { value: 'live', label: 'Live' },
          ]}
          {...getInputProps('mode')}
        />
      </Input.Wrapper>
      <Checkbox.Group label="May" {...getInputProps('permissions')}>
        <Stack gap={8} mt={6}>
          {SCOPES.map(([value, text]) => (
            <Checkbox key={value} value={value} label={value} description={text} />
          ))}
        </Stack>
      </Checkbox.Group>
      {may('owner') && (
        <Select
          label="Acts as"
          data={[
            { value: 'member', label: 'Member' },
            { value: 'owner', label: 'Owner: senders, members, settings too' },
          ]}
          allowDeselect={false}
          {...getInputProps('role')}
        />
      )}
      <Select label="Ends" data={LIVES} allowDeselect={false} {...getInputProps('days')} />
    </ApiForm>
  )
}
