import { Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useLocation } from 'wouter'
import { type Posthorn, PosthornError, type SetupState } from '../../../sdk/index.ts'
import { useApi } from '../api/context.tsx'
import { InvitationPage } from './invitation.tsx'
import { LoginPage } from './login.tsx'
import { pollWhileFailing, ServerUnreachable } from './server-unreachable.tsx'
import type { Session } from './session.ts'
import { SetupPage } from './setup.tsx'

const INVITATION = '/invitation'

type Enter = (session: Session, to?: string) => void

/** The pages before the sign-in: an invitation, the first setup, or the sign-in itself. */
export function EntryPages({ hasSignedOut, onSession }: { hasSignedOut: boolean; onSession: Enter }) {
  const [path, go] = useLocation()
  const token = useSyncExternalStore(onHash, readHash)
  const isInvited = path === INVITATION && token !== ''
  if (isInvited) {
    return (
      <InvitationPage
        key={token}
        token={token}
        onSession={session => onSession(session, '/')}
        onLeave={() => go('/')}
      />
    )
  }
  return hasSignedOut ? <LoginPage onSession={onSession} /> : <Start onSession={onSession} />
}

/** The token is in the fragment of the URL, which is not sent to any server. */
function readHash(): string {
  return location.hash.slice(1)
}

/** Following another such link in the same tab does not reload the page. */
function onHash(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

/** Reads the current session. */
function Start({ onSession }: { onSession: Enter }) {
  const api = useApi()
  const start = useQuery({
    queryKey: ['start'],
    queryFn: () => readStart(api),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: pollWhileFailing,
  })
  const session = start.data?.session
  useEffect(() => {
    if (session) onSession(session)
  }, [session, onSession])

  if (start.error) return <ServerUnreachable error={start.error} retry={start.refetch} />
  if (!start.data || session) return <Waiting />
  const { setup } = start.data
  if (setup?.needed !== true) return <LoginPage onSession={onSession} />
  return (
    <SetupPage
      asksForToken={setup.operatorToken}
      // Without an account, as on a server with several, there is nothing to send a first message from.
      onSession={entered => onSession(entered, entered.memberships.length > 0 ? '/welcome' : '/')}
    />
  )
}

type StartState = { session: Session | null; setup: SetupState | null }

/** The session; without one, whether the server is set up. */
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
