import { Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useLocation } from 'wouter'
import { type Posthorn, PosthornError, type SetupState } from '../../../sdk/index.ts'
import { useApi } from '../api/context.tsx'
import { InvitationPage } from './invitation.tsx'
import { LoginPage } from './login.tsx'
import { NoServer, whileItFails } from './no-server.tsx'
import type { Session } from './session.ts'
import { SetupPage } from './setup.tsx'

const INVITATION = '/invitation'

type Enter = (session: Session, to?: string) => void

/** What is seen before somebody is in: a link that was followed, the first login of all, or the sign-in. */
export function Doors({ hasLeft, onSession }: { hasLeft: boolean; onSession: Enter }) {
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
  return hasLeft ? <LoginPage onSession={onSession} /> : <Start onSession={onSession} />
}

/** Behind the `#` of a link; no server is told of it. */
function readHash(): string {
  return location.hash.slice(1)
}

/** A link that is followed in the tab of the one before loads nothing anew. */
function onHash(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

/** Finds out who is there. */
function Start({ onSession }: { onSession: Enter }) {
  const api = useApi()
  const start = useQuery({
    queryKey: ['start'],
    queryFn: () => readStart(api),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: whileItFails,
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
