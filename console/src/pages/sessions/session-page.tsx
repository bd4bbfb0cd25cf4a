import { Alert, Anchor, Button, Skeleton, Stack } from '@mantine/core'
import { CircleAlert, RotateCw, Trash2, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { WebSessionView } from '../../../../sdk/index.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { notifyDone, notifyFault } from '../../parts/toast.tsx'
import { useGo } from '../../parts/use-go.ts'
import { Chats } from './chats.tsx'
import { Pairing } from './pairing.tsx'
import { SESSIONS } from './paths.ts'
import { SessionFacts } from './session-facts.tsx'

/** Pairing codes are valid only for a short time. */
const PAIRING_EVERY_MS = 1_000
const POLL_EVERY_MS = 5_000
const PAIRING = new Set(['connecting', 'qr', 'pairing_code'])

export default function SessionPage({ name }: { name: string }) {
  const read = useRead(
    '/api/v2/chatapp-sessions/{name}',
    { path: { name } },
    { everyMs: last => (last && !PAIRING.has(last.data.state) ? POLL_EVERY_MS : PAIRING_EVERY_MS) },
  )
  const session = read.data?.data
  const back = (
    <Anchor component={Link} href="/sessions" size="sm">
      All web sessions
    </Anchor>
  )
  if (!session) {
    return (
      <Page title={name} lead={back}>
        {read.error ? <ReadFault error={read.error} retry={read.refetch} /> : <Skeleton h={420} />}
      </Page>
    )
  }
  return (
    <Page title={session.name} lead={back} actions={<Actions session={session} />}>
      <Stack gap="lg">
        <SessionNotice session={session} />
        {session.state !== 'open' && <BanNotice session={session} />}
        {session.state !== 'open' && <Pairing session={session} />}
        <SessionFacts session={session} />
        {session.state === 'open' && <Chats session={session} />}
        {session.state === 'open' && <BanNotice session={session} />}
      </Stack>
    </Page>
  )
}

/** Shown before a phone is linked. */
function BanNotice({ session: { notice } }: { session: WebSessionView }) {
  return (
    <Alert color="brass" variant="light" icon={<TriangleAlert size={16} />} title="The number may be banned">
      {notice}
    </Alert>
  )
}

function SessionNotice({ session: { state, detail } }: { session: WebSessionView }) {
  if (state !== 'closed' && state !== 'logged_out') return null
  return (
    <Alert
      color="red"
      variant="light"
      icon={<CircleAlert size={16} />}
      title={state === 'closed' ? 'The session is not connected' : 'The phone was unlinked'}
      role="alert"
    >
      {detail === null ? '' : `${detail}. `}
      {state === 'logged_out'
        ? 'Messages that waited for it have failed. Restart it to link the phone again.'
        : 'Messages over it are refused meanwhile. Restart it if it does not reconnect by itself.'}
    </Alert>
  )
}

function Actions({ session }: { session: WebSessionView }) {
  const go = useGo()
  const [asked, setAsked] = useState(false)
  const path = { name: session.name }
  const restart = useAction(api => api.post('/api/v2/chatapp-sessions/{name}/restart', { path }), {
    changes: [SESSIONS],
    onDone: () => notifyDone('The session is reconnecting.'),
  })
  const remove = useAction(api => api.delete('/api/v2/chatapp-sessions/{name}', { path }), {
    changes: [SESSIONS],
    onDone() {
      notifyDone('The session is deleted, and the phone unlinked.')
      go('/sessions')
    },
  })
  return (
    <>
      <StatusBadge status={session.state} />
      <Button
        variant="default"
        leftSection={<RotateCw size={15} />}
        loading={restart.isPending}
        onClick={() => restart.mutate(undefined, { onError: notifyFault })}
      >
        Restart
      </Button>
      <Button variant="default" leftSection={<Trash2 size={15} />} onClick={() => setAsked(true)}>
        Delete
      </Button>
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title="Delete this session?"
        text="The phone is unlinked and its keys are deleted. Messages that wait for the session fail. Its name can be used again at once."
        confirmLabel="Delete the session"
        run={() => remove.mutateAsync(undefined)}
      />
    </>
  )
}
