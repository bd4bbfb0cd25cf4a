import { Modal, Select, Text } from '@mantine/core'
import type { ApiKey } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useForget } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'

type Props = { apiKey: ApiKey; onClose: () => void; onMade: (apiKey: string) => void }

const OVERLAPS = [
  { value: '86400', label: 'One more day' },
  { value: '3600', label: 'One more hour' },
  { value: '604800', label: 'One more week' },
  { value: '0', label: 'Not at all: it ends now' },
]

export function RotateKey({ apiKey, ...props }: Omit<Props, 'apiKey'> & { apiKey: ApiKey | null }) {
  return (
    <Modal opened={apiKey !== null} onClose={props.onClose} title="Rotate the key">
      {apiKey && <RotateForm apiKey={apiKey} {...props} />}
    </Modal>
  )
}

function RotateForm({ apiKey, onMade }: Props) {
  const api = useApi()
  const forget = useForget()
  const form = useApiForm({
    initial: { overlapSeconds: '86400' },
    send: ({ overlapSeconds }) =>
      api.post('/api/v2/api-keys/{id}/rotate', {
        path: { id: apiKey.id },
        body: { overlapSeconds: Number(overlapSeconds) },
      }),
    onDone({ data }) {
      forget(['/api/v2/api-keys'])
      onMade(data.apiKey)
    },
  })
  return (
    <ApiForm form={form} submitLabel="Rotate">
      <Text>
        A new key with the same rights takes the place of <b>{apiKey.name}</b>. The old one works meanwhile,
        so that you can change it where it is used.
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
