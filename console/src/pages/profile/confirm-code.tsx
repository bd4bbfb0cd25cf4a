import { Center, Text, TextInput } from '@mantine/core'
import type { TotpStart } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { useSession } from '../../session/context.tsx'

/** Shows the secret to the authenticator, and believes it once it has shown a code of it. */
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
    // As authenticators show it: three and three.
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
        description="The six digits that it shows now"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        {...form.fields.getInputProps('code')}
      />
    </ApiForm>
  )
}
