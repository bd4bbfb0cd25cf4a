import type { SignedIn } from '../../contract/caller.ts'
import type { PasswordChange, SessionView, TotpStart, UserUpdate } from '../../contract/console.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Random } from '../../lib/random.ts'
import { type Attempts, countingAttempt } from './attempts.ts'
import { type Authentication, totpContext } from './authentication.ts'
import { checkNewPassword } from './email.ts'
import { deleteResetsForUser } from './invitation-store.ts'
import type { Passwords } from './passwords.ts'
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts'
import type { Sessions, SignInResult } from './sessions.ts'
import { describeTotp, newTotpSecret, stepOfCode } from './totp.ts'
import {
  clearTotpBy,
  confirmPendingTotp,
  renameUser,
  replacePassword,
  selectUser,
  setPendingTotp,
} from './user-store.ts'
import type { Visit } from './visit.ts'

/** Changes of one's own login. A change of password or second factor ends all sessions and begins a new one. */
export type OwnLogin = {
  update(who: SignedIn, input: UserUpdate): Promise<SessionView>
  changePassword(who: SignedIn, input: PasswordChange, visit: Visit): Promise<SignInResult>
  /** Makes a secret that is not used until a code of it was entered. CONFLICT where the second factor is on already. */
  startTotp(who: SignedIn, password: string): Promise<TotpStart>
  confirmTotp(
    who: SignedIn,
    code: string,
    visit: Visit,
  ): Promise<{ recoveryCodes: string[]; entered: SignInResult }>
  disableTotp(who: SignedIn, password: string, visit: Visit): Promise<SignInResult>
}

export type OwnLoginDeps = {
  db: Database
  clock: Clock
  random: Random
  seal: Seal
  attempts: Attempts
  passwords: Passwords
  proof: Authentication
  sessions: Sessions
}

export function createOwnLogin(deps: OwnLoginDeps): OwnLogin {
  const { db, clock, random, seal, attempts, passwords, proof, sessions } = deps

  /** Makes the change, ends all sessions, and begins a new one, all together. */
  async function changeAndSignInAgain(
    who: SignedIn,
    visit: Visit,
    change: (tx: Db) => Promise<void>,
  ): Promise<SignInResult> {
    const entered = await db.transaction(async tx => {
      await change(tx)
      await sessions.endAll(tx, who.userId)
      const user = await selectUser(tx, who.userId)
      if (!user) throw new Problem('UNAUTHORIZED', 'This login was removed.')
      return sessions.begin(tx, user, visit)
    })
    sessions.forget(who.userId)
    return entered
  }

  async function changePassword(
    who: SignedIn,
    { currentPassword, newPassword }: PasswordChange,
    visit: Visit,
  ): Promise<SignInResult> {
    checkNewPassword('newPassword', newPassword, who.email)
    const before = await proof.verifyPassword(who.userId, 'currentPassword', currentPassword)
    const password = await passwords.hash(newPassword)
    return changeAndSignInAgain(who, visit, async tx => {
      // If a reset changed the password meanwhile, the password that was entered is no longer valid.
      if (!(await replacePassword(tx, who.userId, before.password, password))) {
        throw invalid('currentPassword', 'is not your password')
      }
      await deleteResetsForUser(tx, who.userId)
    })
  }

  async function matchPending(who: SignedIn, code: string) {
    const pending = (await selectUser(db, who.userId))?.totpPending
    if (!pending)
      throw new Problem(
        'CONFLICT',
        'The second factor is not being set up: call POST /api/console/totp first.',
      )
    const step = await stepOfCode(seal.open(pending, totpContext(who.userId)), code, clock.now())
    return step === null ? null : { pending, step }
  }

  async function confirmTotp(who: SignedIn, code: string, visit: Visit) {
    const confirmed = await countingAttempt(attempts, [['login', who.userId]], () => matchPending(who, code))
    if (!confirmed) throw invalid('code', 'is not the code that the authenticator shows now')
    const { pending, step } = confirmed
    const recoveryCodes = newRecoveryCodes(random)
    const hashes = recoveryCodes.map(each => hashRecoveryCode(seal, who.userId, each))
    const entered = await changeAndSignInAgain(who, visit, async tx => {
      if (!(await confirmPendingTotp(tx, who.userId, pending, step, hashes))) throw totpAlreadyOn()
    })
    return { recoveryCodes, entered }
  }

  return {
    async update(who, { name }) {
      if (name !== undefined) {
        await renameUser(db, who.userId, name)
        sessions.forget(who.userId)
      }
      return sessions.view(who)
    },
    changePassword,
    async startTotp(who, password) {
      const user = await proof.verifyPassword(who.userId, 'password', password)
      if (user.totpSecret !== null) throw totpAlreadyOn()
      const secret = newTotpSecret(random)
      await setPendingTotp(db, who.userId, seal.seal(secret, totpContext(who.userId)))
      return describeTotp(secret, user.email)
    },
    confirmTotp,
    async disableTotp(who, password, visit) {
      const before = await proof.verifyPassword(who.userId, 'password', password)
      return changeAndSignInAgain(who, visit, async tx => {
        // As above: a reset would be followed by a session of whoever knew the password before it.
        if (!(await clearTotpBy(tx, who.userId, before.password)))
          throw invalid('password', 'is not your password')
      })
    },
  }
}

function totpAlreadyOn(): Problem {
  return new Problem('CONFLICT', 'The second factor is on already: turn it off first.')
}
