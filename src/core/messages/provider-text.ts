import type { Outcome, PartIds, Receipt } from '../../channels/provider.ts'
import { toStorableText } from '../../lib/storable.ts'

/** Limits for texts from providers, in characters; longer than any id of a message that a provider uses. */
const MAX_ID_LENGTH = 500
const MAX_CODE_LENGTH = 100
const MAX_DETAIL_LENGTH = 500

/** The receipt with texts that the database accepts; else it would be refused at each repeat and never be stored. */
export function storableReceipt(receipt: Receipt): Receipt {
  const { providerId, providerCode, detail } = receipt
  return {
    ...receipt,
    providerId: toStorableText(providerId, MAX_ID_LENGTH),
    providerCode: providerCode === null ? null : toStorableText(providerCode, MAX_CODE_LENGTH),
    detail: detail === null ? null : toStorableText(detail, MAX_DETAIL_LENGTH),
  }
}

/** The outcome with texts that the database accepts; else it could not be stored, and the message would be unknown. */
export function storableOutcome(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') return storableAccepted(outcome)
  const { detail, providerCode } = outcome
  return {
    ...outcome,
    ...(detail !== undefined && { detail: toStorableText(detail, MAX_DETAIL_LENGTH) }),
    ...(providerCode !== undefined && { providerCode: toStorableText(providerCode, MAX_CODE_LENGTH) }),
    ...('pieces' in outcome && outcome.pieces && { pieces: storablePieces(outcome.pieces) }),
  } as Outcome
}

/** Here `code` is the literal response of the provider, so it may be as long as a detail. */
function storableAccepted(outcome: Extract<Outcome, { kind: 'accepted' }>): Outcome {
  const { providerId, code, pieces } = outcome
  return {
    ...outcome,
    providerId: toStorableText(providerId, MAX_ID_LENGTH),
    ...(code !== undefined && { code: toStorableText(code, MAX_DETAIL_LENGTH) }),
    ...(pieces && { pieces: storablePieces(pieces) }),
  }
}

function storablePieces({ whole, ids, total }: PartIds): PartIds {
  return {
    whole: toStorableText(whole, MAX_ID_LENGTH),
    ids: ids.map(id => toStorableText(id, MAX_ID_LENGTH)),
    total,
  }
}
