import { Modal, Select, Text } from '@mantine/core'
import type { ApiKey } from '../../../../sdk/index.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'

type Props = {
  apiKey: ApiKey
  onClose: () => void
  rotate: (id: string, overlapSeconds: number) => Promise<string>
  onMade: (apiKey: string) => void
}

const OVERLAPS = [
  { value: '86400', label: 'One more day' },
  { value: '3600', label: 'One more hour' },
  { value: '604800', label: 'One more week' },
  { value: '0', label: 'No longer: it stops now' },
]

export function RotateKey({ apiKey, ...props }: Omit<Props, 'apiKey'> & { apiKey: ApiKey | null }) {
  return (
    <Modal opened={apiKey !== null} onClose={props.onClose} title="Rotate the key">
      {apiKey && <RotateForm apiKey={apiKey} {...props} />}
    </Modal>
  )
}

function RotateForm({ apiKey, rotate, onMade }: Props) {
  const form = useApiForm({
    initial: { overlapSeconds: '86400' },
    send: ({ overlapSeconds }) => rotate(apiKey.id, Number(overlapSeconds)),
    onDone: onMade,
  })
  return (
    <ApiForm form={form} submitLabel="Rotate">
      <Text>
        A new key with the same permissions replaces{' '}
        <b>
          <bdi>{apiKey.name}</bdi>
        </b>
        . The old one keeps working for the time below, so that you can replace it in your programs.
      </Text>
      <Select
        label="The old key works"
        data={OVERLAPS}
        allowDeselect={false}
        {...form.fields.getInputProps('overlapSeconds')}
      />
    </ApiForm>
  )
}
