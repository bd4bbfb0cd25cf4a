import { Grid, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { VerificationAttempt } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { channelName } from '../../parts/channel-name.ts'
import { Card } from '../../parts/page.tsx'
import { useIdempotentSend } from '../../parts/use-idempotent-send.ts'
import { useSession } from '../../session/context.tsx'
import { CodeEntry } from './code-entry.tsx'
import { SandboxCode } from './sandbox-code.tsx'

const CHANNELS = (['local_sms', 'int_sms', 'official_chatapp', 'email_user'] as const).map(value => ({
  value,
  label: channelName(value),
}))

/** A whole verification, with the same calls that an app makes. */
export default function TryIt() {
  const { mode } = useSession()
  const [attempt, setAttempt] = useState<(VerificationAttempt & { to: string }) | null>(null)
  return (
    <Grid gap="lg" maw={980}>
      <Grid.Col span={{ base: 12, sm: 6 }}>
        <Card title="Send a code">
          <StartForm onStarted={setAttempt} />
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 6 }}>
        <Card title="Check it">
          {attempt === null ? (
            <Text c="dimmed">
              {mode === 'test'
                ? 'In test mode the code goes to the sandbox, costs nothing, and is shown here.'
                : 'In live mode the code is really sent and charged.'}
            </Text>
          ) : (
            <Stack gap="lg">
              {mode === 'test' && (
                <SandboxCode key={`${attempt.verificationId} ${attempt.resendCount}`} attempt={attempt} />
              )}
              <CodeEntry
                key={attempt.verificationId}
                attempt={attempt}
                onResent={resent => setAttempt({ ...resent, to: attempt.to })}
              />
            </Stack>
          )}
        </Card>
      </Grid.Col>
    </Grid>
  )
}

function StartForm({ onStarted }: { onStarted: (attempt: VerificationAttempt & { to: string }) => void }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { mode } = useSession()
  const once = useIdempotentSend()
  const form = useApiForm({
    initial: { to: '', channel: '' },
    send({ to, channel }) {
      const body = { to, ...(channel !== '' && { channel }) }
      return once(body, idempotencyKey => api.post('/api/v2/verification/send', { body, idempotencyKey }))
    },
    onDone(attempt, { to }) {
      invalidate(['/api/v2/sandbox/messages', '/api/v2/verification'])
      onStarted({ ...attempt, to })
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm
      form={form}
      submitLabel={mode === 'test' ? 'Send a test code' : 'Send a real code'}
      disabled={values.to === ''}
    >
      <TextInput
        label="To"
        placeholder="+12025550123 or someone@example.com"
        dir="ltr"
        autoComplete="off"
        {...getInputProps('to')}
      />
      <Select
        label="Channel"
        placeholder="By the settings or routing"
        clearable
        data={CHANNELS}
        {...getInputProps('channel')}
        value={values.channel === '' ? null : values.channel}
        onChange={channel => form.fields.setFieldValue('channel', channel ?? '')}
      />
    </ApiForm>
  )
}
