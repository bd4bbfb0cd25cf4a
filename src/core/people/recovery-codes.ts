import type { Seal } from '../../infra/seal.ts'
import type { Id } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'

/** Stand in for the authenticator when it is lost; each works once. */

const HOW_MANY = 10
/** 32 letters each: 60 bits. */
const LETTERS = 12
const GROUP = 4
/** Crockford's: none is taken for another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** As they are shown: `abcd-efgh-jkmn`. */
export function newRecoveryCodes(random: Random): string[] {
  return Array.from({ length: HOW_MANY }, () => {
    const letters = [...random.bytes(LETTERS)].map(byte => ALPHABET[byte & 31]!)
    return Array.from({ length: LETTERS / GROUP }, (_, at) =>
      letters.slice(at * GROUP, (at + 1) * GROUP).join(''),
    ).join('-')
  })
}

/** What the store keeps, however somebody types it: for this person alone. */
export function hashRecoveryCode(seal: Pick<Seal, 'hashSecret'>, userId: Id<'usr'>, code: string): Buffer {
  const letters = code.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1')
  return seal.hashSecret(`recovery:${userId}:${letters}`)
}
