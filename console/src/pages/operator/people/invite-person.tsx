import { Input, Modal, SegmentedControl, TextInput } from '@mantine/core'
import type { Permission } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { accessField, PermissionsGroup } from '../../members/access-fields.tsx'
import type { CreatedLink } from '../../members/link-dialog.tsx'
import { DEFAULT_PERMISSIONS } from '../../members/permissions.ts'
import { AccountSelect } from '../account-select.tsx'
import { PEOPLE } from './paths.ts'

type Values = {
  email: string
  role: 'owner' | 'member' | 'operator'
  accountId: string | null
  permissions: Permission[]
}
type Props = {
  /** Invites only to this account. */
  accountId?: string
  onClose: () => void
  onMade: (made: CreatedLink) => void
}

const ROLES = [
  { value: 'owner', label: 'Owner' },
  { value: 'member', label: 'Member' },
]
const OPERATOR = { value: 'operator', label: 'Operator' }

export function InvitePerson({ opened, ...props }: Props & { opened: boolean }) {
  return (
    <Modal opened={opened} onClose={props.onClose} title="Invite somebody">
      <InviteForm {...props} />
    </Modal>
  )
}

function InviteForm({ accountId, onMade }: Props) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm<Values, { data: { link: string; invitation: { email: string } } }>({
    initial: { email: '', role: 'owner', accountId: accountId ?? null, permissions: DEFAULT_PERMISSIONS },
    send: values => api.post('/api/admin/members/invitations', { body: toBody(values) }),
    fieldOf: accessField,
    onDone({ data }) {
      invalidate([PEOPLE])
      onMade({ link: data.link, mail: 'not_asked', email: data.invitation.email })
    },
  })
  const { getInputProps, values } = form.fields
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
      <Input.Wrapper label="Role" labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label="Role"
          data={accountId === undefined ? [...ROLES, OPERATOR] : ROLES}
          {...getInputProps('role')}
        />
      </Input.Wrapper>
      {accountId === undefined && values.role !== 'operator' && (
        <AccountSelect label="Account" placeholder="Choose one" {...getInputProps('accountId')} />
      )}
      {values.role === 'member' && <PermissionsGroup {...getInputProps('permissions')} />}
    </ApiForm>
  )
}

function toBody({ email, role, accountId, permissions }: Values) {
  return {
    email: email.trim(),
    role,
    ...(role !== 'operator' && accountId !== null && { accountId }),
    ...(role === 'member' && { permissions }),
  }
}
