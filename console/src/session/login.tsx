import { Anchor, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { PosthornError } from '../../../sdk/index.ts'
import { useApi } from '../api/context.tsx'
import { ApiForm, useApiForm } from '../parts/api-form.tsx'
import { SecretInput } from '../parts/secret-input.tsx'
import { EntryPage } from './entry-page.tsx'
import type { Session } from './session.ts'

/** E-mail and password, and the second factor where there is one. */
export function LoginForm({
  email = '',
  onSession,
  submitLabel = 'Sign in',
}: {
  /** The e-mail address that is required; if empty, it is an input. */
  email?: string
  onSession: (session: Session) => void
  submitLabel?: string
}) {
  const api = useApi()
  const [asksForCode, setAsksForCode] = useState(false)
  const form = useApiForm({
    initial: { email, password: '', totp: '' },
    send: ({ totp, ...body }) =>
      api.post('/api/console/login', { body: { ...body, ...(totp !== '' && { totp }) } }),
    onDone: ({ data }) => onSession(data),
    onError(error) {
      const asked = error instanceof PosthornError && error.code === 'TOTP_REQUIRED' && !asksForCode
      if (asked) setAsksForCode(true)
      return asked
    },
  })

  /** A hidden code would be sent again, and refused. */
  function startOver(): void {
    setAsksForCode(false)
    form.fields.setFieldValue('totp', '')
    form.setFault(null)
  }

  return (
    <ApiForm form={form} submitLabel={asksForCode ? 'Verify' : submitLabel} fullWidth>
      {asksForCode ? (
        <Stack gap="sm">
          <TextInput
            label="Code"
            description="From your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            data-autofocus
            autoFocus
            {...form.fields.getInputProps('totp')}
          />
          <Anchor component="button" type="button" size="sm" onClick={startOver}>
            {email === '' ? 'Use another login' : 'Back to the password'}
          </Anchor>
        </Stack>
      ) : (
        <>
          {email === '' ? (
            <TextInput
              label="E-mail"
              type="email"
              autoComplete="username"
              autoFocus
              {...form.fields.getInputProps('email')}
            />
          ) : (
            <Text size="md">
              Signed in as <b>{email}</b>
            </Text>
          )}
          <SecretInput
            label="Password"
            autoComplete="current-password"
            {...(email !== '' && { autoFocus: true, 'data-autofocus': true })}
            {...form.fields.getInputProps('password')}
          />
        </>
      )}
    </ApiForm>
  )
}

export function LoginPage({ onSession }: { onSession: (session: Session) => void }) {
  return (
    <EntryPage title="Sign in" lead="Send messages and follow their delivery.">
      <LoginForm onSession={onSession} />
      <Text size="sm" c="dimmed" mt="lg">
        No login, or forgot the password? An owner of your account, or the operator of this server, sends you
        a link.
      </Text>
    </EntryPage>
  )
}
