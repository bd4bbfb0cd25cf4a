import { Text } from '@mantine/core'
import type { TotpStart } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { SecretInput } from '../../parts/secret-input.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'

/** Asks for the password first, in case the session was left open. */
export function StartFactor({ onStart }: { onStart: (start: TotpStart) => void }) {
  const api = useApi()
  const form = useApiForm({
    initial: { password: '' },
    send: body => api.post('/api/console/totp', { body }),
    onDone: ({ data }) => onStart(data),
  })
  return (
    <ApiForm form={form} submitLabel="Continue">
      <SecretInput
        label="Password"
        autoComplete="current-password"
        data-autofocus
        {...form.fields.getInputProps('password')}
      />
    </ApiForm>
  )
}

export function EndFactor({ onDone }: { onDone: () => void }) {
  const api = useApi()
  const { refresh } = useSession()
  const form = useApiForm({
    initial: { password: '' },
    send: body => api.delete('/api/console/totp', { body }),
    onDone({ data }) {
      refresh(data)
      notifyDone('The second factor is off.')
      onDone()
    },
  })
  return (
    <ApiForm form={form} submitLabel="Turn it off" danger>
      <Text>You then sign in with your password alone. The recovery codes stop working.</Text>
      <SecretInput
        label="Password"
        autoComplete="current-password"
        data-autofocus
        {...form.fields.getInputProps('password')}
      />
    </ApiForm>
  )
}
