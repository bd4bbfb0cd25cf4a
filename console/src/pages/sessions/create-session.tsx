import { Input, Modal, SegmentedControl, TextInput } from '@mantine/core'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { SESSIONS } from './paths.ts'

type Props = { opened: boolean; onClose: () => void; onMade: (name: string) => void }

export function CreateSession({ opened, onClose, onMade }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Link a phone">
      <CreateForm onMade={onMade} />
    </Modal>
  )
}

function CreateForm({ onMade }: Pick<Props, 'onMade'>) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { name: '', by: 'qr' as 'qr' | 'code', phone: '' },
    send: ({ name, by, phone }) =>
      api.post('/api/v2/chatapp-sessions', { body: { name, ...(by === 'code' && { phone }) } }),
    onDone({ data }) {
      invalidate([SESSIONS])
      onMade(data.session.name)
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm form={form} submitLabel="Continue">
      <TextInput
        label="Name"
        description="The name that programs use: letters, digits, _ and -"
        placeholder="front-desk"
        autoComplete="off"
        data-autofocus
        {...getInputProps('name')}
      />
      <Input.Wrapper label="Link by" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="How it is linked"
          data={[
            { value: 'qr', label: 'Scanning a QR code' },
            { value: 'code', label: 'Typing a code' },
          ]}
          {...getInputProps('by')}
        />
      </Input.Wrapper>
      {values.by === 'code' && (
        <TextInput
          label="Phone number"
          placeholder="+12025550123"
          type="tel"
          dir="ltr"
          autoComplete="off"
          {...getInputProps('phone')}
        />
      )}
    </ApiForm>
  )
}
