import type { Seal } from '../../infra/seal.ts'
import type { Random } from '../../lib/random.ts'
import { sameText } from '../../lib/same-text.ts'
import { emailKey } from './email.ts'
import { newToken } from './tokens.ts'

/**
 * Browsers in which somebody has come in before. Each keeps a mark that only this server can have
 * given, for that one login: whoever guesses from elsewhere shuts nobody out there (OWASP: Slow Down
 * Online Guessing Attacks with Device Cookies). It opens nothing by itself, and nothing of it is stored.
 */
export type Browsers = {
  /** For a browser in which this login has just come in: the mark that it has, or a new one. */
  mark(email: string, given: string | null): string
  /** The browser's name where the mark is this login's; null for any other, or none. */
  recognize(email: string, given: string | null): string | null
}

export type BrowsersDeps = { random: Random; seal: Pick<Seal, 'hashSecret'> }

export function createBrowsers({ random, seal }: BrowsersDeps): Browsers {
  const sign = (email: string, name: string) =>
    seal.hashSecret(`browser:${emailKey(email)}:${name}`).toString('base64url')

  function recognize(email: string, given: string | null): string | null {
    const [name = '', proof = ''] = (given ?? '').split('.')
    return sameText(proof, sign(email, name)) ? name : null
  }

  return {
    mark(email, given) {
      if (given !== null && recognize(email, given) !== null) return given
      const name = newToken(random)
      return `${name}.${sign(email, name)}`
    },
    recognize,
  }
}
