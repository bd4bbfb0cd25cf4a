import type { Seal } from '../../infra/seal.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import type { Random } from '../../lib/random.ts'
import { emailKey } from './email.ts'
import { newToken } from './tokens.ts'

/**
 * Device cookies: a browser in which somebody has signed in stores a token, signed by this server, for that
 * login. Guesses from other places then do not lock the person out in that browser (OWASP: Slow Down
 * Online Guessing Attacks with Device Cookies). The token alone grants nothing, and is not stored here.
 */
export type Browsers = {
  /** The token for a browser in which this login has just signed in: the present one if it is valid, else a new one. */
  issueToken(email: string, given: string | null): string
  /** The browser's id if the token is valid for this login; else null. */
  recognize(email: string, given: string | null): string | null
}

export type BrowsersDeps = { random: Random; seal: Pick<Seal, 'hashSecret'> }

export function createBrowsers({ random, seal }: BrowsersDeps): Browsers {
  const sign = (email: string, name: string) =>
    seal.hashSecret(`browser:${emailKey(email)}:${name}`).toString('base64url')

  function recognize(email: string, given: string | null): string | null {
    const [name = '', proof = ''] = (given ?? '').split('.')
    return constantTimeEqual(proof, sign(email, name)) ? name : null
  }

  return {
    issueToken(email, given) {
      if (given !== null && recognize(email, given) !== null) return given
      const name = newToken(random)
      return `${name}.${sign(email, name)}`
    },
    recognize,
  }
}
