import type { Outcome, PartIds, Receipt } from '../../channels/provider.ts'
import { toStorableText } from '../../lib/storable.ts'

/** Limits for texts from providers, in characters; longer than any id of a message that a provider uses. */
const LONGEST_ID = 500
const LONGEST_CODE = 100
const LONGEST_DETAIL = 500

/** The receipt with texts that the database accepts; else it would be refused at each repeat and never be stored. */
export function storableReceipt(receipt: Receipt): Receipt {
  const { providerId, providerCode, detail } = receipt
  return {
    ...receipt,
    providerId: toStorableText(providerId, LONGEST_ID),
    providerCode: providerCode === null ? null : toStorableText(providerCode, LONGEST_CODE),
    detail: detail === null ? null : toStorableText(detail, LONGEST_DETAIL),
  }
}

/** The outcome with texts that the database accepts; else it could not be stored, and the message would be unknown. */
export function storableOutcome(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') return storableAccepted(outcome)
  const { detail, providerCode } = outcome
  return {
    ...outcome,
    ...(detail !== undefined && { detail: toStorableText(detail, LONGEST_DETAIL) }),
    ...(providerCode !== undefined && { providerCode: toStorableText(providerCode, LONGEST_CODE) }),
    ...('pieces' in outcome && outcome.pieces && { pieces: storablePieces(outcome.pieces) }),
  } as Outcome
}

/** Here `code` is the literal response of the provider, so it may be as long as a detail. */
function storableAccepted(outcome: Extract<Outcome, { kind: 'accepted' }>): Outcome {
  const { providerId, code, pieces } = outcome
  return {
    ...outcome,
    providerId: toStorableText(providerId, LONGEST_ID),
    ...(code !== undefined && { code: toStorableText(code, LONGEST_DETAIL) }),
    ...(pieces && { pieces: storablePieces(pieces) }),
  }
}

function storablePieces({ whole, ids, total }: PartIds): PartIds {
  return {
    whole: toStorableText(whole, LONGEST_ID),
    ids: ids.map(id => toStorableText(id, LONGEST_ID)),
    total,
  }
}
