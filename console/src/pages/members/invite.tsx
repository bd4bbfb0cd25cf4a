import { Modal, Switch, TextInput } from '@mantine/core'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { type AccessDraft, AccessFields, accessBody, accessField } from './access-fields.tsx'
import { DEFAULT_PERMISSIONS, MEMBERS } from './permissions.ts'

type Made = { link: string; mail: string; email: string }
type Props = { opened: boolean; onClose: () => void; onMade: (made: Made) => void }

export function Invite({ opened, onClose, onMade }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title="Invite somebody">
      <InviteForm onMade={onMade} />
    </Modal>
  )
}

function InviteForm({ onMade }: Pick<Props, 'onMade'>) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { email: '', role: 'member', permissions: DEFAULT_PERMISSIONS, mail: true } as AccessDraft & {
      email: string
      mail: boolean
    },
    send: ({ email, mail, ...rights }) =>
      api.post('/api/v2/members/invitations', { body: { email: email.trim(), mail, ...accessBody(rights) } }),
    fieldOf: accessField,
    onDone({ data }) {
      invalidate([MEMBERS])
      onMade({ link: data.link, mail: data.mail, email: data.invitation.email })
    },
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Invite">
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="off"
        dir="ltr"
        data-autofocus
        {...getInputProps('email')}
      />
      <AccessFields form={form} />
      <Switch
        label="Send the link by e-mail"
        description="The link is also shown to you"
        {...getInputProps('mail', { type: 'checkbox' })}
      />
    </ApiForm>
  )
}
