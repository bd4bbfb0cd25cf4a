import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { PosthornError } from '../../../sdk/index.ts'
import type { Identity } from '../api/console-fetch.ts'
import { useApi, useApiContext } from '../api/context.tsx'
import { notifyConsequence } from '../parts/toast.tsx'
import { Frame } from '../shell/frame.tsx'
import { type Choice, loadChoice, resolveChoice, saveChoice } from './choice.ts'
import { SessionProvider } from './context.tsx'
import { EntryPages } from './entry-pages.tsx'
import type { Session } from './session.ts'
import { SignInAgain } from './sign-in-again.tsx'
import type { SignInPrompt } from './sign-in-prompt.ts'

/** The session of the browser's cookie, which all tabs share. */
export type SessionCookie = {
  /** Takes it over if it is another one of the same person than this tab has; false otherwise. */
  follow(): Promise<boolean>
}
type Props = { again: SignInPrompt; cookie: SessionCookie; identify: (identity: Identity) => void }

/** Shows the console to the signed-in person, and the sign-in pages otherwise. */
export function SessionGate(props: Props) {
  const [session, setSession] = useState<Session | null>(null)
  const [hasSignedOut, setLeft] = useState(false)
  const client = useQueryClient()
  const { tabs } = useApiContext()

  function enter(entered: Session, to?: string): void {
    client.clear()
    setSession(entered)
    tabs.post({ kind: 'entered', sessionId: entered.session.id })
    if (to !== undefined) navigate(to, { replace: true })
  }

  function leave(): void {
    props.identify({ csrfToken: null, accountId: null, mode: 'test' })
    setSession(null)
    setLeft(true)
    client.clear()
    navigate('/', { replace: true })
  }

  if (session === null) return <EntryPages hasSignedOut={hasSignedOut} onSession={enter} />
  return <SignedIn {...props} session={session} onSession={setSession} onLeave={leave} />
}

function SignedIn({
  again,
  cookie,
  identify,
  session,
  onSession,
  onLeave,
}: Props & { session: Session; onSession: (session: Session) => void; onLeave: () => void }) {
  const api = useApi()
  const { tabs } = useApiContext()
  const [chosen, setChosen] = useState(loadChoice)
  const choice = resolveChoice(chosen, session)
  // Before components below send requests.
  identify({ csrfToken: session.csrfToken, ...choice })
  useEffect(() => {
    const save = () => saveChoice(choice)
    save()
    addEventListener('focus', save)
    return () => removeEventListener('focus', save)
  })

  async function signOut(): Promise<void> {
    try {
      await api.post('/api/console/logout')
    } catch (error) {
      // The sign-out failed: the person must know that they are still signed in.
      if (!hasEnded(error)) return notifyConsequence('You are still signed in', error)
    }
    tabs.post({ kind: 'left' })
    onLeave()
  }

  /** Changing the password or second factor starts a new session, of which other tabs have only the cookie. */
  function refresh(renewed: Session): void {
    onSession(renewed)
    if (renewed.session.id !== session.session.id)
      tabs.post({ kind: 'entered', sessionId: renewed.session.id })
  }

  function continueSession(renewed: Session): void {
    identify({ csrfToken: renewed.csrfToken, ...choice })
    onSession(renewed)
    again.close(true)
  }

  function enterAgain(renewed: Session): void {
    continueSession(renewed)
    tabs.post({ kind: 'entered', sessionId: renewed.session.id })
  }

  /** Another session of the cookie: this tab continues for the same person, and reloads for another one. */
  function takeOver(other: Session): boolean {
    const isSamePerson = other.user.id === session.user.id
    if (isSamePerson) continueSession(other)
    else location.assign('/')
    return isSamePerson
  }

  async function followOtherTab(): Promise<void> {
    const { data } = await api.get('/api/console/session')
    takeOver(data)
  }

  async function followCookie(): Promise<boolean> {
    const { data } = await api.get('/api/console/session')
    return data.session.id !== session.session.id && takeOver(data)
  }

  useEffect(() => {
    // If that fails, the first response is the answer.
    cookie.follow = () => followCookie().catch(() => false)
    return () => {
      cookie.follow = async () => false
    }
  })

  useEffect(() =>
    tabs.listen(word => {
      if (word.kind === 'left') void again.open()
      if (word.kind === 'entered' && (again.isOpen() || word.sessionId !== session.session.id)) {
        // If that fails, the next request shows the error.
        followOtherTab().catch(() => {})
      }
    }),
  )

  /**
   * Checks whether the person's rights have changed: the page would otherwise keep showing data that they may
   * no longer read.
   */
  async function recheckRights(): Promise<void> {
    const { data } = await api.get('/api/console/session')
    if (rightsOf(data) === rightsOf(session)) return
    // The account must not change silently: the person could send for another one than they see.
    if (resolveChoice(choice, data).accountId === choice.accountId) onSession(data)
    else location.assign('/')
  }

  const client = useQueryClient()
  useEffect(() =>
    client.getQueryCache().subscribe(event => {
      if (event.type !== 'updated' || event.action.type !== 'error' || !isRefusal(event.action.error)) return
      recheckRights().catch(() => {})
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
