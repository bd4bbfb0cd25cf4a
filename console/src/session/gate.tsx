import { Button, Center, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { PosthornError } from '../../../sdk/index.ts'
import type { Identity } from '../api/console-fetch.ts'
import { useApi } from '../api/context.tsx'
import { faultOf } from '../api/fault.ts'
import { FaultNote } from '../parts/api-form.tsx'
import { Frame } from '../shell/frame.tsx'
import type { Again } from './again.ts'
import { type Choice, fitChoice, loadChoice, saveChoice } from './choice.ts'
import { SessionProvider } from './context.tsx'
import { Door } from './door.tsx'
import { InvitationPage } from './invitation.tsx'
import { LoginPage } from './login.tsx'
import type { Session } from './session.ts'
import { SetupPage } from './setup.tsx'
import { SignInAgain } from './sign-in-again.tsx'

type Props = { again: Again; identify: (identity: Identity) => void }

const INVITATION = '/invitation'

/** Lets in whoever is signed in; shows the others their door. */
export function SessionGate({ again, identify }: Props) {
  const [path, go] = useLocation()
  const api = useApi()
  const client = useQueryClient()
  const start = useStart()
  const [session, setSession] = useState<Session | null | undefined>(undefined)
  const [choice, setChoice] = useState(loadChoice)
  const token = useRef(readToken(path)).current

  const known = session === undefined ? (start.data?.session ?? null) : session
  const fitting = known === null ? choice : fitChoice(choice, known)
  identify({ csrfToken: known?.csrfToken ?? null, accountId: fitting.accountId, mode: fitting.mode })
  useEffect(() => {
    if (known !== null) saveChoice(fitting)
  })

  const enter = useCallback(
    (entered: Session, to?: string) => {
      client.clear()
      setSession(entered)
      if (to !== undefined) go(to, { replace: true })
    },
    [client, go],
  )

  async function signOut(): Promise<void> {
    await api.post('/api/console/logout').catch(() => {})
    leave()
  }

  function leave(): void {
    identify({ csrfToken: null, accountId: null, mode: fitting.mode })
    setSession(null)
    client.clear()
    go('/', { replace: true })
  }

  if (path === INVITATION && token !== '' && session === undefined) {
    return (
      <InvitationPage
        token={token}
        onSession={entered => enter(entered, '/welcome')}
        onLeave={() => go('/')}
      />
    )
  }
  if (session === undefined && start.isPending) return <Waiting />
  if (session === undefined && start.error) return <NoServer error={start.error} retry={start.refetch} />
  if (known === null && start.data?.setup?.needed && session === undefined) {
    return (
      <SetupPage
        asksForToken={start.data.setup.operatorToken}
        onSession={entered => enter(entered, '/welcome')}
      />
    )
  }
  if (known === null) return <LoginPage onSession={enter} />
  return (
    <SessionProvider
      value={{
        session: known,
        choice: fitting,
        choose: (part: Partial<Choice>) => setChoice({ ...fitting, ...part }),
        refresh: setSession,
        signOut,
      }}
    >
      <Frame />
      <SignInAgain again={again} email={known.user.email} onSession={setSession} onLeave={leave} />
    </SessionProvider>
  )
}

/** Who is signed in; where nobody is, whether there is anybody at all. */
function useStart() {
  const api = useApi()
  return useQuery({
    queryKey: ['start'],
    queryFn: async () => {
      try {
        const { data } = await api.get('/api/console/session')
        return { session: data, setup: null }
      } catch (error) {
        if (!(error instanceof PosthornError && error.status === 401)) throw error
        const { data } = await api.get('/api/console/setup')
        return { session: null, setup: data }
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: 2,
  })
}

/** What stands behind the # never reaches a server, nor its log. */
function readToken(path: string): string {
  return path === INVITATION ? location.hash.slice(1) : ''
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
