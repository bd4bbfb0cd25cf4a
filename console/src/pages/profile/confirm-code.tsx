import { Center, Text, TextInput } from '@mantine/core'
import type { TotpStart } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { useSession } from '../../session/context.tsx'

/** Shows the secret for the authenticator; it is active once a code of it was confirmed. */
export function ConfirmCode({
  start,
  onDone,
}: {
  start: TotpStart
  onDone: (codes: readonly string[]) => void
}) {
  const api = useApi()
  const { refresh } = useSession()
  const form = useApiForm({
    initial: { code: '' },
    // Authenticators show codes as three and three digits.
    send: ({ code }) => api.post('/api/console/totp/confirm', { body: { code: code.replaceAll(/\s/g, '') } }),
    onDone({ data }) {
      refresh(data.session)
      onDone(data.recoveryCodes)
    },
  })
  return (
    <ApiForm form={form} submitLabel="Turn it on">
      <Text c="dimmed">Scan this with your authenticator app, or type the secret in.</Text>
      <Center>
        <QrCode text={start.uri} label="The secret, for your authenticator app" />
      </Center>
      <Text ta="center" className="ph-mono">
        {start.secret} <CopyButton text={start.secret} what="the secret" small />
      </Text>
      <TextInput
        label="Code"
        description="The six digits that the app shows now"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        {...form.fields.getInputProps('code')}
      />
    </ApiForm>
  )
}
