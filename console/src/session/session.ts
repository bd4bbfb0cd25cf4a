import type { SessionView } from '../../../sdk/index.ts'

/** Who is signed in, as the server says it. */
export type Session = SessionView
export type Membership = Session['memberships'][number]
export type Mode = 'live' | 'test'
/** What a page asks of whoever opens it. */
export type Need = 'anyone' | 'member' | 'owner' | 'operator'

/** Whether somebody with this role in the chosen account may open what needs `need`. */
export function mayOpen(need: Need, session: Session, membership: Membership | null): boolean {
  if (need === 'anyone') return true
  if (need === 'operator') return session.user.operator
  if (membership === null) return false
  return need === 'member' || membership.role === 'owner'
}
