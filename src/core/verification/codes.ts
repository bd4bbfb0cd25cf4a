import type { KeyMode } from '../../contract/enums.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import { drawCode } from '../../lib/one-time-code.ts'
import type { Random } from '../../lib/random.ts'

export type VerificationId = Id<'ver'>

/** Whose code is checked where only the recipient is named. */
export type CodeOwner = { accountId: AccountId; mode: KeyMode; recipientKey: string }

/**
 * Codes and what is kept of them. A code has so few values that a plain hash would
 * give it away: these are keyed (HMAC-SHA256, its key derived from the master key),
 * and bound to one attempt or to one recipient, so that none fits another place.
 */
export type Codes = {
  draw(length: number): string
  hashFor(id: VerificationId, code: string): Buffer
  hashForRecipient(owner: CodeOwner, code: string): Buffer
}

export function createCodes({ random, seal }: { random: Random; seal: Pick<Seal, 'hashSecret'> }): Codes {
  return {
    draw: length => drawCode(random, length),
    hashFor: (id, code) => seal.hashSecret(`verification:${id}:${code}`),
    hashForRecipient: ({ accountId, mode, recipientKey }, code) =>
      seal.hashSecret(`verification:${accountId}:${mode}:${recipientKey}:${code}`),
  }
}
