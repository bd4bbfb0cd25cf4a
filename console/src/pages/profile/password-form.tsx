import { useApi } from '../../api/context.tsx'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { SecretInput } from '../../parts/secret-input.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'

export function PasswordForm() {
  const api = useApi()
  const { refresh } = useSession()
  const form = useApiForm({
    initial: { currentPassword: '', newPassword: '' },
    send: body => api.post('/api/console/password', { body }),
    onDone({ data }) {
      refresh(data)
      form.fields.reset()
      notifyDone('Your password is changed. You are signed out everywhere else.')
    },
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Change the password">
      <SecretInput
        label="Current password"
        autoComplete="current-password"
        {...getInputProps('currentPassword')}
      />
      <SecretInput
        label="New password"
        description="At least 10 characters; a sentence is fine"
        autoComplete="new-password"
        {...getInputProps('newPassword')}
      />
    </ApiForm>
  )
}
