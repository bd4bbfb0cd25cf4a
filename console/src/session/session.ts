import type { SessionView } from '../../../sdk/index.ts'

/** The session as the API returns it. */
export type Session = SessionView
export type Membership = Session['memberships'][number]
export type Mode = 'live' | 'test'
/** The role that a page needs. */
export type Need = 'anyone' | 'member' | 'owner' | 'operator'

/** Whether a person with this membership may open pages with `need`. */
export function mayOpen(need: Need, session: Session, membership: Membership | null): boolean {
  if (need === 'anyone') return true
  if (need === 'operator') return session.user.operator
  if (membership === null) return false
  return need === 'member' || membership.role === 'owner'
}
