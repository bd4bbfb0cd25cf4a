import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import type { ApiForm } from '../../parts/api-form.tsx'
import { type ButtonDraft, type Draft, NEW_BUTTON } from './draft.ts'

const TYPES: readonly { value: ButtonDraft['type']; label: string }[] = [
  { value: 'url', label: 'Open a website' },
  { value: 'phone', label: 'Call a number' },
  { value: 'quick_reply', label: 'Quick reply' },
  { value: 'copy_code', label: 'Copy a code' },
]
const MAX_BUTTONS = 10

/** The buttons below an official template. */
export function ButtonFields({ fields }: { fields: ApiForm<Draft>['fields'] }) {
  const { buttons } = fields.values
  return (
    <Stack gap="xs" data-path="buttons" tabIndex={-1}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          Buttons
        </Text>
        {buttons.length < MAX_BUTTONS && (
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<Plus size={13} />}
            onClick={() => fields.insertListItem('buttons', NEW_BUTTON)}
          >
            Add a button
          </Button>
        )}
      </Group>
      {typeof fields.errors['buttons'] === 'string' && (
        <Text size="xs" c="var(--mantine-color-error)">
          {fields.errors['buttons']}
        </Text>
      )}
      {buttons.map((button, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: their place is what they are known by, to the API too
        <ButtonRow key={at} fields={fields} button={button} at={at} />
      ))}
    </Stack>
  )
}

function ButtonRow({
  fields,
  button,
  at,
}: {
  fields: ApiForm<Draft>['fields']
  button: ButtonDraft
  at: number
}) {
  const props = (name: keyof ButtonDraft) => fields.getInputProps(`buttons.${at}.${name}`)
  return (
    <Group gap="xs" align="flex-start" className="ph-card" p="xs">
      <Select
        aria-label={`Type of button ${at + 1}`}
        data={[...TYPES]}
        allowDeselect={false}
        w={150}
        {...props('type')}
      />
      <TextInput
        aria-label={`Text of button ${at + 1}`}
        placeholder="Text"
        maxLength={25}
        w={160}
        {...props('text')}
      />
      {button.type === 'url' && (
        <>
          <TextInput
            aria-label={`Address of button ${at + 1}`}
            placeholder="https://example.com/orders/{{1}}"
            style={{ flex: 1, minWidth: 200 }}
            dir="ltr"
            {...props('url')}
          />
          {button.url.endsWith('{{1}}') && (
            <TextInput
              aria-label={`Example address of button ${at + 1}`}
              placeholder="Example: https://example.com/orders/4711"
              style={{ flex: 1, minWidth: 200 }}
              dir="ltr"
              {...props('urlExample')}
            />
          )}
        </>
      )}
      {button.type === 'phone' && (
        <TextInput
          aria-label={`Number of button ${at + 1}`}
          placeholder="+12025550123"
          style={{ flex: 1 }}
          dir="ltr"
          {...props('phoneNumber')}
        />
      )}
      {button.type === 'copy_code' && (
        <TextInput
          aria-label={`Code of button ${at + 1}`}
          placeholder="Example code"
          style={{ flex: 1 }}
          {...props('example')}
        />
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        ml="auto"
        aria-label={`Remove button ${at + 1}`}
        onClick={() => fields.removeListItem('buttons', at)}
      >
        <Trash2 size={15} />
      </ActionIcon>
    </Group>
  )
}
