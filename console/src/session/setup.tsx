import { TextInput } from '@mantine/core'
import { useApi } from '../api/context.tsx'
import { ApiForm, useApiForm } from '../parts/api-form.tsx'
import { SecretInput } from '../parts/secret-input.tsx'
import { EntryPage } from './entry-page.tsx'
import type { Session } from './session.ts'

/** The first visit to a new server creates the operator's login. */
export function SetupPage({
  asksForToken,
  onSession,
}: {
  asksForToken: boolean
  onSession: (session: Session) => void
}) {
  const api = useApi()
  const form = useApiForm({
    initial: { name: '', email: '', password: '', operatorToken: '' },
    send: ({ operatorToken, ...body }) =>
      api.post('/api/console/setup', { body: { ...body, ...(asksForToken && { operatorToken }) } }),
    onDone: ({ data }) => onSession(data),
  })
  const { getInputProps } = form.fields
  return (
    <EntryPage title="Set up Posthorn" lead="The first login is the operator’s. You can then invite others.">
      <ApiForm form={form} submitLabel="Create login" fullWidth>
        <TextInput label="Your name" autoComplete="name" autoFocus {...getInputProps('name')} />
        <TextInput label="E-mail" type="email" autoComplete="username" {...getInputProps('email')} />
        <SecretInput
          label="Password"
          description="At least 10 characters; a sentence is fine"
          autoComplete="new-password"
          {...getInputProps('password')}
        />
        {asksForToken && (
          <SecretInput
            label="Operator token"
            description="Required because other machines can reach this server. It is in the file operator-token of the data directory, or in POSTHORN_OPERATOR_TOKEN."
            autoComplete="off"
            {...getInputProps('operatorToken')}
          />
        )}
      </ApiForm>
    </EntryPage>
  )
}
