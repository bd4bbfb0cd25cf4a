import type { KeyMode } from '../../contract/enums.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import { generateCode } from '../../lib/one-time-code.ts'
import type { Random } from '../../lib/random.ts'

export type VerificationId = Id<'ver'>

/** The account and key mode that a code belongs to. */
export type CodeOwner = { accountId: AccountId; mode: KeyMode }

/**
 * Codes and their keyed hashes. There are so few codes that a plain hash could be
 * reversed: only a digest leaves this process, the HMAC-SHA256 of the code, bound to its
 * account, under a key derived from the master key. The database stores a hash of the
 * digest and the attempt's id (`accept_verifications`), so that it is valid there alone.
 */
export type Codes = {
  draw(length: number): string
  /** The keyed hash of a code; 32 bytes. */
  digest(owner: CodeOwner, code: string): Buffer
}

export function createCodes({ random, seal }: { random: Random; seal: Pick<Seal, 'hashSecret'> }): Codes {
  return {
    draw: length => generateCode(random, length),
    digest: ({ accountId, mode }, code) => seal.hashSecret(`verification:${accountId}:${mode}:${code}`),
  }
}
