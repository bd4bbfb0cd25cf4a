import { Modal, Text, TextInput } from '@mantine/core'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { SecretInput } from '../../parts/secret-input.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { SMS_SENDERS } from './paths.ts'

type Props = { opened: boolean; onClose: () => void }

export function RequestSender({ opened, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Request a sender name">
      <RequestForm onClose={onClose} />
    </Modal>
  )
}

function RequestForm({ onClose }: Pick<Props, 'onClose'>) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { name: '', webhookUrl: '', webhookSecret: '' },
    send: ({ name, webhookUrl, webhookSecret }) =>
      api.post('/api/v2/sms-senders', {
        body: {
          name,
          ...(webhookUrl !== '' && { webhookUrl }),
          ...(webhookSecret !== '' && { webhookSecret }),
        },
      }),
    onDone() {
      invalidate([SMS_SENDERS, '/api/v2/account'])
      notifyDone('The name waits for review.')
    },
    onClose,
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm form={form} submitLabel="Request the name">
      <TextInput
        label="Name"
        description="3 to 11 letters, digits or spaces, such as “Acme Shop”; or 3 to 15 digits"
        autoComplete="off"
        data-autofocus
        {...getInputProps('name')}
      />
      <TextInput
        label="Webhook URL"
        description="Optional: called once when the operator has decided. https, reachable from the internet."
        placeholder="https://example.com/senders"
        autoComplete="off"
        dir="ltr"
        {...getInputProps('webhookUrl')}
      />
      {(values.webhookUrl !== '' || values.webhookSecret !== '') && (
        <SecretInput
          label="Secret"
          description="Signs the call, so that you know who calls. Never shown again."
          autoComplete="off"
          {...getInputProps('webhookSecret')}
        />
      )}
      <Text size="sm" c="dimmed">
        Networks check names: request one that people know you by. A pending name cannot be used yet.
      </Text>
    </ApiForm>
  )
}
