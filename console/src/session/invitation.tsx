import { Button, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type InvitationPreview, PosthornError } from '../../../sdk/index.ts'
import { useApi } from '../api/context.tsx'
import { faultOf } from '../api/fault.ts'
import { ApiForm, FaultNote, useApiForm } from '../parts/api-form.tsx'
import { SecretInput } from '../parts/secret-input.tsx'
import { loadChoice, saveChoice } from './choice.ts'
import { EntryPage } from './entry-page.tsx'
import { pollWhileFailing, ServerUnreachable } from './server-unreachable.tsx'
import type { Session } from './session.ts'

type Props = { token: string; onSession: (session: Session) => void; onLeave: () => void }

/** The page of a link to join an account, or to set a new password. */
export function InvitationPage({ token, onSession, onLeave }: Props) {
  const api = useApi()
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.post('/api/console/invitations/read', { body: { token } }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: query => (isInvalidLink(query.state.error) ? false : pollWhileFailing(query)),
  })
  if (preview.isPending) {
    return (
      <EntryPage title="One moment">
        <Skeleton h={140} />
      </EntryPage>
    )
  }
  if (preview.error && !isInvalidLink(preview.error))
    return <ServerUnreachable error={preview.error} retry={preview.refetch} />
  if (preview.error) {
    return (
      <EntryPage
        title="This link does not work"
        lead="It was used or withdrawn, or it has expired. Ask for a new one."
      >
        <Stack>
          <FaultNote fault={faultOf(preview.error)} />
          <Button variant="default" onClick={onLeave}>
            Go to the sign-in
          </Button>
        </Stack>
      </EntryPage>
    )
  }
  return <Accept token={token} preview={preview.data.data} onSession={onSession} />
}

/** Whether the server says that the link is invalid; false if it is unreachable or limits the rate. */
function isInvalidLink(error: unknown): boolean {
  return error instanceof PosthornError && error.status < 500 && error.status !== 429
}

function Accept({
  token,
  preview,
  onSession,
}: Pick<Props, 'token' | 'onSession'> & { preview: InvitationPreview }) {
  const api = useApi()
  const [asksForCode, setAsksForCode] = useState(false)
  const isNew = !preview.hasLogin && preview.kind === 'invitation'
  const form = useApiForm({
    initial: { name: '', password: '', totp: '' },
    send: ({ name, password, totp }) =>
      api.post('/api/console/invitations/accept', {
        body: { token, password, ...(isNew && { name }), ...(totp !== '' && { totp }) },
      }),
    onDone({ data: { joined, ...session } }) {
      // Of several accounts, open the one they joined.
      if (joined !== null) saveChoice({ ...loadChoice(), accountId: joined })
      onSession(session)
    },
    onError(error) {
      const asked = error instanceof PosthornError && error.code === 'TOTP_REQUIRED' && !asksForCode
      if (asked) setAsksForCode(true)
      return asked
    },
  })
  const { getInputProps } = form.fields
  const known = preview.hasLogin && preview.kind === 'invitation'
  return (
    <EntryPage title={titleOf(preview)} lead={preview.email}>
      <ApiForm form={form} submitLabel={preview.kind === 'reset' ? 'Set password' : 'Join'} fullWidth>
        {isNew && <TextInput label="Your name" autoComplete="name" autoFocus {...getInputProps('name')} />}
        <SecretInput
          label={known ? 'Your password' : 'New password'}
          description={known ? 'Of your existing login' : 'At least 10 characters; a sentence is fine'}
          autoComplete={known ? 'current-password' : 'new-password'}
          autoFocus={!isNew}
          {...getInputProps('password')}
        />
        {asksForCode && (
          <TextInput
            label="Code"
            description="From your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            autoFocus
            {...getInputProps('totp')}
          />
        )}
      </ApiForm>
      {preview.kind === 'reset' && (
        <Text size="sm" c="dimmed" mt="md">
          Your second factor, if you had one, is turned off.
        </Text>
      )}
    </EntryPage>
  )
}

function titleOf({ kind, accountName, role }: InvitationPreview): string {
  if (kind === 'reset') return 'Choose a new password'
  return accountName === null ? 'Join as operator' : `Join ${accountName} as ${role ?? 'member'}`
}
