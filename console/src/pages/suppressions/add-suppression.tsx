import { Modal, Select, TextInput } from '@mantine/core'
import type { SuppressionCreate } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { notifyDone } from '../../parts/toast.tsx'
import { SUPPRESSIONS } from './path.ts'

export function AddSuppression({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Add a recipient">
      <Fields onClose={onClose} />
    </Modal>
  )
}

function Fields({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { to: '', channel: '', reason: '' },
    send: ({ to, channel, reason }) =>
      api.post('/api/v2/suppressions', {
        body: {
          to,
          ...(channel !== '' && { channel: channel as NonNullable<SuppressionCreate['channel']> }),
          ...(reason !== '' && { reason }),
        },
      }),
    onDone(_, { to }) {
      invalidate([SUPPRESSIONS])
      notifyDone(`${to} no longer gets marketing.`)
    },
    onClose,
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Add to the list">
      <TextInput
        label="Recipient"
        description="A phone number in E.164, an e-mail address, a group or chat id"
        placeholder="+12025550123"
        dir="ltr"
        autoComplete="off"
        data-autofocus
        {...getInputProps('to')}
      />
      <Select
        label="Channel"
        placeholder="Every channel"
        clearable
        data={CHANNELS.map(value => ({ value, label: channelName(value) }))}
        {...getInputProps('channel')}
        value={form.fields.values.channel === '' ? null : form.fields.values.channel}
        onChange={channel => form.fields.setFieldValue('channel', channel ?? '')}
      />
      <TextInput label="Reason" description="For your records" maxLength={500} {...getInputProps('reason')} />
    </ApiForm>
  )
}
