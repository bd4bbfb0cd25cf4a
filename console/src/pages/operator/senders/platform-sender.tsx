import { Checkbox, Modal, TextInput } from '@mantine/core'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { SENDERS } from './paths.ts'

export function PlatformSender({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="New platform name">
      <PlatformForm onClose={onClose} />
    </Modal>
  )
}

function PlatformForm({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { name: '', isDefault: false },
    send: body => api.post(SENDERS, { body }),
    onDone({ data }) {
      invalidate([SENDERS])
      notifyDone(`${data.smsSender.name} is approved for every account.`)
    },
    onClose,
  })
  return (
    <ApiForm form={form} submitLabel="Create the name">
      <TextInput
        label="Name"
        description="3 to 11 letters and digits, or a number. It is approved at once."
        data-autofocus
        autoComplete="off"
        {...form.fields.getInputProps('name')}
      />
      <Checkbox
        label="Default"
        description="For accounts without a default of their own"
        {...form.fields.getInputProps('isDefault', { type: 'checkbox' })}
      />
    </ApiForm>
  )
}
