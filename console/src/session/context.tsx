import { createContext, useContext, useMemo } from 'react'
import type { Permission } from '../../../sdk/index.ts'
import type { Choice } from './choice.ts'
import { type Membership, type Mode, mayOpen, type Need, type Session } from './session.ts'

export type SessionContext = {
  session: Session
  choice: Choice
  choose(choice: Partial<Choice>): void
  /** To be called after a change of the person's name or second factor. */
  refresh(session: Session): void
  signOut(): Promise<void>
}

const Context = createContext<SessionContext | null>(null)
export const SessionProvider = Context.Provider

/** The signed-in person, their account and mode. */
export function useSession(): SessionContext & {
  membership: Membership | null
  mode: Mode
  /** Whether they may open pages with `need`; the API checks it too. */
  may(need: Need): boolean
  /** Whether they have this permission in the chosen account. */
  can(permission: Permission): boolean
} {
  const context = useContext(Context)
  if (!context) throw new Error('outside of SessionProvider')
  return useMemo(() => {
    const { session, choice } = context
    const membership = session.memberships.find(({ account }) => account.id === choice.accountId) ?? null
    return {
      ...context,
      membership,
      mode: choice.mode,
      may: need => mayOpen(need, session, membership),
      can: permission => membership?.permissions.includes(permission) ?? false,
    }
  }, [context])
}
