import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import type { AdminSender } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { SENDERS } from './paths.ts'

type Props = { onClose: () => void }

const USUAL = [
  'The name belongs to somebody else. Send us proof that you may use it.',
  'The name does not identify the sender. Request one that your recipients know.',
  'Networks of your home country do not accept names of this kind.',
]

export function RejectSender({ sender, ...props }: Props & { sender: AdminSender | null }) {
  return (
    <Modal opened={sender !== null} onClose={props.onClose} title="Reject the name" zIndex={300}>
      {sender && <RejectForm sender={sender} {...props} />}
    </Modal>
  )
}

function RejectForm({ sender, onClose }: Props & { sender: AdminSender }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { reason: '' },
    send: body => api.post('/api/admin/sms-senders/{id}/reject', { path: { id: sender.id }, body }),
    onDone({ data }) {
      invalidate([SENDERS])
      notifyDone(`${data.name} is rejected; the account sees the reason.`)
    },
    onClose,
  })
  return (
    <ApiForm form={form} submitLabel="Reject the name" danger>
      <Textarea
        label="Reason"
        description="The account sees it: explain what has to change."
        autosize
        minRows={3}
        maxLength={500}
        data-autofocus
        {...form.fields.getInputProps('reason')}
      />
      <Stack gap={6}>
        {USUAL.map(text => (
          <Group key={text}>
            <Button
              variant="light"
              color="gray"
              size="xs"
              h="auto"
              py={6}
              fw={400}
              styles={{ label: { whiteSpace: 'normal', textAlign: 'start', lineHeight: 1.35 } }}
              onClick={() => form.fields.setFieldValue('reason', text)}
            >
              {text}
            </Button>
          </Group>
        ))}
      </Stack>
    </ApiForm>
  )
}
