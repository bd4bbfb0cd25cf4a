import { invalid, Problem } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AttemptBucket, type Attempts, countingAttempt, loginBuckets } from './attempts.ts'
import type { Browsers } from './browsers.ts'
import { emailKey } from './email.ts'
import type { Passwords } from './passwords.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import { stepOfCode } from './totp.ts'
import {
  consumeRecoveryCode,
  consumeTotpStep,
  selectUser,
  selectUserByEmail,
  type UserId,
  type UserRow,
} from './user-store.ts'
import type { Visit } from './visit.ts'

/** Authentication of people. */
export type Authentication = {
  /**
   * By address, password and, where it is on, a code of the second factor. Throws
   * UNAUTHORIZED, the same whatever was wrong; TOTP_REQUIRED where only the code is missing;
   * RATE_LIMITED after too many wrong attempts for this login, from this IP address, or in this known browser.
   */
  verifyLogin(
    given: { email: string; password: string; totp?: string | undefined },
    visit: Visit,
  ): Promise<UserRow>
  /** Checks the password of a person who is signed in. VALIDATION_ERROR at `path` for a wrong one. */
  verifyPassword(userId: UserId, path: string, password: string): Promise<UserRow>
}

export type AuthenticationDeps = {
  db: Db
  clock: Clock
  seal: Pick<Seal, 'open' | 'hashSecret'>
  attempts: Attempts
  passwords: Passwords
  browsers: Pick<Browsers, 'recognize'>
}

export function createAuthentication({
  db,
  clock,
  seal,
  attempts,
  passwords,
  browsers,
}: AuthenticationDeps): Authentication {
  /** Each code works once, also for concurrent attempts: one conditional UPDATE decides. */
  async function verifySecondFactorCode(user: UserRow, given: string): Promise<boolean> {
    const code = given.replace(/\s/g, '')
    if (!/^\d{6}$/.test(code)) return consumeRecoveryCode(db, user.id, hashRecoveryCode(seal, user.id, code))
    const secret = seal.open(user.totpSecret!, totpContext(user.id))
    const step = await stepOfCode(secret, code, clock.now())
    return step !== null && consumeTotpStep(db, user.id, step)
  }

  /** True also where the second factor is off, or where its code has still to be asked for. */
  async function passesSecondFactor(
    user: UserRow,
    given: string | undefined,
    browser: string | null,
  ): Promise<boolean> {
    if (user.totpSecret === null || given === undefined) return true
    const chance: AttemptBucket = ['code', browser === null ? user.id : `${user.id} ${browser}`]
    const passed = await countingAttempt(attempts, [chance], async () =>
      (await verifySecondFactorCode(user, given)) ? user : null,
    )
    return passed !== null
  }

  return {
    async verifyLogin({ email, password, totp }, visit) {
      const key = emailKey(email)
      const browser = browsers.recognize(key, visit.browser)
      const user = await countingAttempt(attempts, loginBuckets(key, visit.ip, browser), async () => {
        const found = await selectUserByEmail(db, key)
        const right = await passwords.verify(password, found?.password ?? null, browser !== null)
        return found && right && (await passesSecondFactor(found, totp, browser)) ? found : null
      })
      if (!user) throw wrongCredentials()
      if (user.totpSecret !== null && totp === undefined) throw new Problem('TOTP_REQUIRED')
      return user
    },

    async verifyPassword(userId, path, password) {
      const user = await countingAttempt(attempts, [['login', userId]], async () => {
        const found = await selectUser(db, userId)
        return (await passwords.verify(password, found?.password ?? null, true)) ? found : null
      })
      if (!user) throw invalid(path, 'is not your password')
      return user
    },
  }
}

function wrongCredentials(): Problem {
  return new Problem('UNAUTHORIZED', 'The e-mail address, the password or the code is not right.')
}

/** The context that a sealed secret is bound to: it opens for this person only. */
export function totpContext(userId: UserId): string {
  return `totp:${userId}`
}
