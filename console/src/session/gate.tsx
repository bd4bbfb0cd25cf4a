import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { PosthornError } from '../../../sdk/index.ts'
import type { Identity } from '../api/console-fetch.ts'
import { useApi, useApiContext } from '../api/context.tsx'
import { tellUpshot } from '../parts/toast.tsx'
import { Frame } from '../shell/frame.tsx'
import type { Again } from './again.ts'
import { type Choice, fitChoice, loadChoice, saveChoice } from './choice.ts'
import { SessionProvider } from './context.tsx'
import { Doors } from './doors.tsx'
import type { Session } from './session.ts'
import { SignInAgain } from './sign-in-again.tsx'

type Props = { again: Again; identify: (identity: Identity) => void }

/** Shows the console to the signed-in person, and the sign-in pages otherwise. */
export function SessionGate(props: Props) {
  const [session, setSession] = useState<Session | null>(null)
  const [hasLeft, setLeft] = useState(false)
  const client = useQueryClient()
  const { tabs } = useApiContext()

  function enter(entered: Session, to?: string): void {
    client.clear()
    setSession(entered)
    tabs.tell({ kind: 'entered', sessionId: entered.session.id })
    if (to !== undefined) navigate(to, { replace: true })
  }

  function leave(): void {
    props.identify({ csrfToken: null, accountId: null, mode: 'test' })
    setSession(null)
    setLeft(true)
    client.clear()
    navigate('/', { replace: true })
  }

  if (session === null) return <Doors hasLeft={hasLeft} onSession={enter} />
  return <Inside {...props} session={session} onSession={setSession} onLeave={leave} />
}

function Inside({
  again,
  identify,
  session,
  onSession,
  onLeave,
}: Props & { session: Session; onSession: (session: Session) => void; onLeave: () => void }) {
  const api = useApi()
  const { tabs } = useApiContext()
  const [chosen, setChosen] = useState(loadChoice)
  const choice = fitChoice(chosen, session)
  // Before components below send requests.
  identify({ csrfToken: session.csrfToken, ...choice })
  useEffect(() => saveChoice(choice))

  async function signOut(): Promise<void> {
    try {
      await api.post('/api/console/logout')
    } catch (error) {
      // The sign-out failed: the person must know that they are still signed in.
      if (!hasEnded(error)) return tellUpshot('You are still signed in', error)
    }
    tabs.tell({ kind: 'left' })
    onLeave()
  }

  /** Changing the password or second factor starts a new session, of which other tabs have only the cookie. */
  function refresh(renewed: Session): void {
    onSession(renewed)
    if (renewed.session.id !== session.session.id)
      tabs.tell({ kind: 'entered', sessionId: renewed.session.id })
  }

  function goOn(renewed: Session): void {
    identify({ csrfToken: renewed.csrfToken, ...choice })
    onSession(renewed)
    again.answer(true)
  }

  function enterAgain(renewed: Session): void {
    goOn(renewed)
    tabs.tell({ kind: 'entered', sessionId: renewed.session.id })
  }

  /** The cookie has changed: this tab continues for the same person, and reloads for another one. */
  async function followOther(): Promise<void> {
    const { data } = await api.get('/api/console/session')
    if (data.user.id === session.user.id) goOn(data)
    else location.assign('/')
  }

  useEffect(() =>
    tabs.listen(word => {
      if (word.kind === 'left') void again.ask()
      if (word.kind === 'entered' && (again.isAsked() || word.sessionId !== session.session.id)) {
        // If that fails, the next request shows the error.
        followOther().catch(() => {})
      }
    }),
  )

  /**
   * Checks whether the person's rights have changed: the page would otherwise keep showing data that they may
   * no longer read.
   */
  async function lookAtRights(): Promise<void> {
    const { data } = await api.get('/api/console/session')
    if (rightsOf(data) === rightsOf(session)) return
    // The account must not change silently: the person could send for another one than they see.
    if (fitChoice(choice, data).accountId === choice.accountId) onSession(data)
    else location.assign('/')
  }

  const client = useQueryClient()
  useEffect(() =>
    client.getQueryCache().subscribe(event => {
      if (event.type !== 'updated' || event.action.type !== 'error' || !isRefusal(event.action.error)) return
      lookAtRights().catch(() => {})
    }),
  )

  return (
    <SessionProvider
      value={{
        session,
        choice,
        choose: (part: Partial<Choice>) => setChosen({ ...choice, ...part }),
        refresh,
        signOut,
      }}
    >
      <Frame />
      <SignInAgain again={again} email={session.user.email} onSession={enterAgain} onLeave={onLeave} />
    </SessionProvider>
  )
}

function rightsOf({ user, memberships }: Session): string {
  return JSON.stringify([user.operator, memberships])
}

function isRefusal(error: unknown): boolean {
  return error instanceof PosthornError && error.status === 403
}

/** Whether the session had already ended. */
function hasEnded(error: unknown): boolean {
  return error instanceof PosthornError && error.status === 401
}
