import type { Caller } from '../contract/caller.ts'
import { SANDBOX } from '../contract/sandbox.ts'
import { createAuditLog } from '../core/audit/audit-log.ts'
import type { Send } from '../core/messages/send.ts'
import { createAttempts } from '../core/people/attempts.ts'
import { createAuthentication } from '../core/people/authentication.ts'
import { createBrowsers } from '../core/people/browsers.ts'
import { sweepInvitations } from '../core/people/invitation-store.ts'
import { createInvitations } from '../core/people/invitations.ts'
import type { MailState } from '../core/people/members.ts'
import { createMembers } from '../core/people/members.ts'
import { createOwnLogin } from '../core/people/own-login.ts'
import { createPasswords } from '../core/people/passwords.ts'
import { createPeopleAdmin } from '../core/people/people-admin.ts'
import { createSessions } from '../core/people/sessions.ts'
import { createSignIn, isLoopback } from '../core/people/sign-in.ts'
import type { PeopleAccess } from '../http/auth.ts'
import { createSessionCookies } from '../http/session-cookies.ts'
import { HOUR_MS, SECOND_MS } from '../lib/durations.ts'
import type { Chore } from '../workers/chores.ts'
import type { AccountRooms } from './accounts.ts'
import type { Foundation } from './foundation.ts'

export type PeopleRooms = ReturnType<typeof createPeopleRooms>

/** People, their sign-in and sessions, invitations, and the audit log. */
export function createPeopleRooms(
  base: Foundation,
  rooms: AccountRooms,
  send: Send,
  isOperatorToken: (token: string) => boolean,
) {
  const { db, clock, ids, random, seal, changes, log, config } = base
  const publicUrl = config.publicUrl ?? null
  const attempts = createAttempts({ clock })
  const passwords = createPasswords({ random })
  const browsers = createBrowsers({ random, seal })
  const { accounts } = rooms
  const sessions = createSessions({ db, clock, ids, random, seal, changes, accounts, browsers })
  const proof = createAuthentication({ db, clock, seal, attempts, passwords, browsers })
  const shared = { db, clock, ids, random, seal, attempts, passwords, proof, sessions }
  const invitations = createInvitations(shared)
  const members = createMembers({ ...shared, invitations, publicUrl, mail: createMail(base, rooms, send) })
  const cookies = createSessionCookies({ secure: publicUrl?.startsWith('https:') ?? false })
  const access: PeopleAccess = {
    cookies,
    publicOrigin: publicUrl && new URL(publicUrl).origin,
    lookup: sessions.lookup,
    peek: sessions.peek,
    callerFor: sessions.callerFor,
  }
  return {
    access,
    attempts,
    cookies,
    sessions,
    invitations,
    members,
    wayIn: createSignIn({
      ...shared,
      localOnly: isLoopback(config.host) && publicUrl === null,
      isOperatorToken,
    }),
    ownLogin: createOwnLogin(shared),
    peopleAdmin: createPeopleAdmin({ ...shared, invitations, members, publicUrl }),
    auditLog: createAuditLog({ db, clock, ids, log }),
  }
}

/**
 * Mails with links are sent as OTP messages of the account: their text is sealed, and not in lists. Never over
 * the sandbox, since test keys of the account can read its inbox, and could open the links.
 */
function createMail({ ids, log }: Foundation, { connections }: AccountRooms, send: Send) {
  return async (
    caller: Caller,
    { to, subject, text }: { to: string; subject: string; text: string },
  ): Promise<MailState> => {
    const carried = await connections.forAccount(caller.account.id)
    const real = carried.some(
      ({ enabled, provider, channels }) => enabled && provider !== SANDBOX && channels.includes('email_user'),
    )
    if (!real || caller.mode === 'test') return 'no_connection'
    const body = {
      to,
      channel: 'email_user' as const,
      messageType: 'otp' as const,
      content: { subject, text },
    }
    try {
      const answer = await send({
        requestId: ids.next('req'),
        caller,
        body,
        fault: null,
        headerKey: undefined,
      })
      if (answer.status !== 200) return 'failed'
      return (JSON.parse(answer.body) as { status: string }).status === 'sent' ? 'sent' : 'queued'
    } catch (error) {
      log.warn({ err: error }, 'an invitation could not be mailed')
      return 'failed'
    }
  }
}

/** The chores of people, sessions and the audit log. */
export function listPeopleChores({ db, clock }: Foundation, { sessions, auditLog }: PeopleRooms): Chore[] {
  return [
    { name: 'store session use', everyMs: 10 * SECOND_MS, run: sessions.flushSeen },
    { name: 'store late audit entries', everyMs: SECOND_MS, run: auditLog.flush },
    { name: 'sweep sessions', dependsOnClock: true, everyMs: HOUR_MS, run: sessions.sweep },
    {
      name: 'sweep invitations',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sweepInvitations(db, clock.now()),
    },
  ]
}
