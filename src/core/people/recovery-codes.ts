import type { Seal } from '../../infra/seal.ts'
import type { Id } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'

/** Recovery codes replace a lost authenticator; each works once. */

const CODE_COUNT = 10
/** 12 letters of an alphabet of 32: 60 bits. */
const CODE_LETTERS = 12
const GROUP_LETTERS = 4
/** Crockford's base 32, without letters that look alike. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** In the form in which they are shown: `abcd-efgh-jkmn`. */
export function newRecoveryCodes(random: Random): string[] {
  return Array.from({ length: CODE_COUNT }, () => {
    const letters = [...random.bytes(CODE_LETTERS)].map(byte => ALPHABET[byte & 31]!)
    return Array.from({ length: CODE_LETTERS / GROUP_LETTERS }, (_, at) =>
      letters.slice(at * GROUP_LETTERS, (at + 1) * GROUP_LETTERS).join(''),
    ).join('-')
  })
}

/** The hash to store, the same for every way to type the code, and bound to the person. */
export function hashRecoveryCode(seal: Pick<Seal, 'hashSecret'>, userId: Id<'usr'>, code: string): Buffer {
  const letters = code.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1')
  return seal.hashSecret(`recovery:${userId}:${letters}`)
}
