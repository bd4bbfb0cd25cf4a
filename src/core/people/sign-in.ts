import type { LoginBody, SetupBody, SetupState } from '../../contract/console.ts'
import { Problem } from '../../contract/errors.ts'
import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { type Attempts, addressBucket } from './attempts.ts'
import type { Authentication } from './authentication.ts'
import { checkNewPassword, emailKey, readEmail } from './email.ts'
import { insertMembership, selectOnlyAccount } from './membership-store.ts'
import type { Passwords } from './passwords.ts'
import type { Sessions, SignInResult } from './sessions.ts'
import { hasUsers, insertUser, lockPeople } from './user-store.ts'
import type { Visit } from './visit.ts'

/** First setup and login of the console. */
export type SignIn = {
  setupState(visit: Visit): Promise<SetupState>
  /**
   * Makes the first login of a store without logins: an operator, who also owns the account of the
   * first start. Of several concurrent calls one succeeds; CONFLICT for the others. UNAUTHORIZED without
   * the operator token, unless only this machine can reach the server.
   */
  setUp(body: SetupBody, visit: Visit): Promise<SignInResult>
  logIn(body: LoginBody, visit: Visit): Promise<SignInResult>
}

export type SignInDeps = {
  db: Database
  clock: Clock
  ids: Ids
  attempts: Attempts
  passwords: Passwords
  proof: Authentication
  sessions: Sessions
  /** By its configuration, only this machine can reach the server. */
  localOnly: boolean
  isOperatorToken(token: string): boolean
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { db, clock, ids, attempts, passwords, sessions } = deps

  /** No token is needed where only a person at this machine can be the first visitor; elsewhere anybody could be. */
  function needsToken({ ip, host, forwarded }: Visit): boolean {
    // DNS rebinding: another host name may be an attacker's, pointed at this machine, whose page would do the setup in the user's browser.
    return !deps.localOnly || forwarded || !isLoopback(ip) || !isLoopback(host)
  }

  async function setUp({ email: given, name, password, operatorToken }: SetupBody, visit: Visit) {
    attempts.take(addressBucket(visit.ip))
    // Before the token is checked: otherwise this would be one more place to guess it.
    if (await hasUsers(db)) throw alreadySetUp()
    if (needsToken(visit) && !(operatorToken !== undefined && deps.isOperatorToken(operatorToken))) {
      throw new Problem('UNAUTHORIZED', 'The operator token is missing or not valid.', {
        details: [{ path: 'operatorToken', message: 'must be the operator token of this server' }],
      })
    }
    const email = readEmail(given)
    checkNewPassword('password', password, email)
    const user = {
      id: ids.next('usr'),
      email,
      emailKey: emailKey(email),
      name,
      password: await passwords.hash(password),
      operator: true,
    }
    const entered = await db.transaction(async tx => {
      await lockPeople(tx)
      if (await hasUsers(tx)) throw alreadySetUp()
      await insertUser(tx, user)
      const accountId = await selectOnlyAccount(tx)
      if (accountId) {
        await insertMembership(
          tx,
          { accountId, userId: user.id, role: 'owner', permissions: [] },
          clock.now(),
        )
      }
      return sessions.begin(tx, { ...user, totpSecret: null }, visit)
    })
    attempts.release(addressBucket(visit.ip))
    return entered
  }

  return {
    setupState: async visit => ({ needed: !(await hasUsers(db)), operatorToken: needsToken(visit) }),
    setUp,
    async logIn(body, visit) {
      const user = await deps.proof.verifyLogin(body, visit)
      attempts.take(['entry', user.id])
      return sessions.begin(db, user, visit)
    },
  }
}

function alreadySetUp(): Problem {
  return new Problem(
    'CONFLICT',
    'The first login exists already: sign in, or ask an operator for an invitation.',
  )
}

/** An address or a name of this machine alone. */
export function isLoopback(host: string): boolean {
  return /^((::ffff:)?127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/i.test(host)
}
