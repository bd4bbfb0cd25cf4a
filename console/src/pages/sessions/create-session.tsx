import { Input, Modal, SegmentedControl, TextInput } from '@mantine/core'
import { useApi } from '../../api/context.tsx'
import { useForget } from '../../api/use-read.ts'
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
  const forget = useForget()
  const form = useApiForm({
    initial: { name: '', by: 'qr' as 'qr' | 'code', phone: '' },
    send: ({ name, by, phone }) =>
      api.post('/api/v2/chatapp-sessions', { body: { name, ...(by === 'code' && { phone }) } }),
    onDone({ data }) {
      forget([SESSIONS])
      onMade(data.session.name)
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm form={form} submitLabel="Go on">
      <TextInput
        label="Name"
        description="By which programs call it: letters, digits, _ and -"
        placeholder="front-desk"
        autoComplete="off"
        data-autofocus
        {...getInputProps('name')}
      />
      <Input.Wrapper label="Link it" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="How it is linked"
          data={[
            { value: 'qr', label: 'By scanning a code' },
            { value: 'code', label: 'By typing a code' },
          ]}
          {...getInputProps('by')}
        />
      </Input.Wrapper>
      {values.by === 'code' && (
        <TextInput
          label="Its number"
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
