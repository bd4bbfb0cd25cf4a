import { Button, Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { type Posthorn, PosthornError, type SetupState } from '../../../sdk/index.ts'
import { useApi } from '../api/context.tsx'
import { faultOf } from '../api/fault.ts'
import { FaultNote } from '../parts/api-form.tsx'
import { Door } from './door.tsx'
import { InvitationPage } from './invitation.tsx'
import { LoginPage } from './login.tsx'
import type { Session } from './session.ts'
import { SetupPage } from './setup.tsx'

const INVITATION = '/invitation'

type Enter = (session: Session, to?: string) => void

/** What is seen before somebody is in: a link that was followed, the first login of all, or the sign-in. */
export function Doors({ hasLeft, onSession }: { hasLeft: boolean; onSession: Enter }) {
  const [path, go] = useLocation()
  const [token] = useState(() => (path === INVITATION ? location.hash.slice(1) : ''))
  const isInvited = path === INVITATION && token !== ''
  if (isInvited) {
    return (
      <InvitationPage token={token} onSession={session => onSession(session, '/')} onLeave={() => go('/')} />
    )
  }
  return hasLeft ? <LoginPage onSession={onSession} /> : <Start onSession={onSession} />
}

/** Finds out who is there. */
function Start({ onSession }: { onSession: Enter }) {
  const api = useApi()
  const start = useQuery({
    queryKey: ['start'],
    queryFn: () => readStart(api),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const session = start.data?.session
  useEffect(() => {
    if (session) onSession(session)
  }, [session, onSession])

  if (start.error) return <NoServer error={start.error} retry={start.refetch} />
  if (!start.data || session) return <Waiting />
  const { setup } = start.data
  if (setup?.needed !== true) return <LoginPage onSession={onSession} />
  return (
    <SetupPage asksForToken={setup.operatorToken} onSession={entered => onSession(entered, '/welcome')} />
  )
}

type StartState = { session: Session | null; setup: SetupState | null }

/** Who is signed in; where nobody is, whether there is anybody at all. */
async function readStart(api: Posthorn): Promise<StartState> {
  try {
    const { data } = await api.get('/api/console/session')
    return { session: data, setup: null }
  } catch (error) {
    if (!(error instanceof PosthornError && error.status === 401)) throw error
    const { data } = await api.get('/api/console/setup')
    return { session: null, setup: data }
  }
}

function Waiting() {
  return (
    <Center h="100dvh">
      <Loader size="sm" aria-label="Loading" />
    </Center>
  )
}

function NoServer({ error, retry }: { error: unknown; retry: () => unknown }) {
  return (
    <Door title="Posthorn">
      <FaultNote fault={faultOf(error)} />
      <Button mt="md" fullWidth onClick={() => retry()}>
        Try again
      </Button>
    </Door>
  )
}
