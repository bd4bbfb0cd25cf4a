import type { KeyMode } from '../../contract/enums.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import { drawCode } from '../../lib/one-time-code.ts'
import type { Random } from '../../lib/random.ts'

export type VerificationId = Id<'ver'>

/** Within what a code is one. */
export type CodeOwner = { accountId: AccountId; mode: KeyMode }

/**
 * Codes and what is kept of them. A code has so few values that a plain hash would
 * give it away: it leaves this process as a mark alone, keyed (HMAC-SHA256, its key
 * derived from the master key) and bound to its account. The store keeps a hash of the
 * mark and of the attempt's id (`accept_verifications`), so that none fits another place.
 */
export type Codes = {
  draw(length: number): string
  /** What stands for the code towards the store; 32 bytes. */
  mark(owner: CodeOwner, code: string): Buffer
}

export function createCodes({ random, seal }: { random: Random; seal: Pick<Seal, 'hashSecret'> }): Codes {
  return {
    draw: length => drawCode(random, length),
    mark: ({ accountId, mode }, code) => seal.hashSecret(`verification:${accountId}:${mode}:${code}`),
  }
}
