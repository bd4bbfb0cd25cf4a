import { Checkbox, Input, Modal, SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import type { KeyMode, KeyRole, Permission } from '../../../../sdk/index.ts'
import { nowMs } from '../../api/server-clock.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { useSession } from '../../session/context.tsx'

/** The input for a new key. */
export type KeyDraft = {
  name: string
  mode: KeyMode
  role: KeyRole
  permissions: Permission[]
  expiresAt?: string
}

type Props = {
  opened: boolean
  onClose: () => void
  create: (draft: KeyDraft) => Promise<string>
  /** Only owners may create keys with the role owner. */
  mayCreateOwners: boolean
  onMade: (apiKey: string) => void
}

const SCOPES: readonly (readonly [Permission, string])[] = [
  ['messages:create', 'Send, verify, manage templates and webhooks'],
  ['messages:read', 'Read messages and bulk jobs'],
  ['api_keys:read', 'List keys'],
  ['api_keys:write', 'Create, rotate and revoke keys'],
]
const EXPIRIES = [
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

function CreateForm({ create, mayCreateOwners, onMade }: Omit<Props, 'opened'>) {
  const { mode } = useSession()
  const form = useApiForm({
    initial: {
      name: '',
      mode,
      role: 'member' as KeyRole,
      permissions: ['messages:create', 'messages:read'] as Permission[],
      days: '',
    },
    send: ({ days, ...draft }) =>
      create({
        ...draft,
        ...(days !== '' && { expiresAt: new Date(nowMs() + Number(days) * DAY_MS).toISOString() }),
      }),
    fieldOf: path => (path === 'expiresAt' ? 'days' : path.replace(/\[\d+\]$/, '')),
    onDone: onMade,
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Create the key">
      <TextInput
        label="Name"
        description="What will use it, such as “Shop backend”"
        data-autofocus
        {...getInputProps('name')}
      />
      <Input.Wrapper label="Mode" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Mode of the key"
          data={[
            { value: 'test', label: 'Test: sandbox only' },
            { value: 'live', label: 'Live' },
          ]}
          {...getInputProps('mode')}
        />
      </Input.Wrapper>
      <Checkbox.Group label="Permissions" {...getInputProps('permissions')}>
        <Stack gap={8} mt={6}>
          {SCOPES.map(([value, text]) => (
            <Checkbox key={value} value={value} label={value} description={text} />
          ))}
        </Stack>
      </Checkbox.Group>
      {mayCreateOwners && (
        <Select
          label="Role"
          data={[
            { value: 'member', label: 'Member' },
            { value: 'owner', label: 'Owner: also senders, members and settings' },
          ]}
          allowDeselect={false}
          {...getInputProps('role')}
        />
      )}
      <Select label="Expires" data={EXPIRIES} allowDeselect={false} {...getInputProps('days')} />
    </ApiForm>
  )
}
