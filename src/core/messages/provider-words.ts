import type { Outcome, Pieces, Receipt } from '../../channels/provider.ts'
import { storable } from '../../lib/storable.ts'

/** More than any provider's id of a message has, and any word of its own on a receipt or an outcome is worth. */
const LONGEST_ID = 500
const LONGEST_CODE = 100
const LONGEST_DETAIL = 500

/** What the store cannot hold would be told again and again, and never be stored. */
export function storableReceipt(receipt: Receipt): Receipt {
  const { providerId, providerCode, detail } = receipt
  return {
    ...receipt,
    providerId: storable(providerId, LONGEST_ID),
    providerCode: providerCode === null ? null : storable(providerCode, LONGEST_CODE),
    detail: detail === null ? null : storable(detail, LONGEST_DETAIL),
  }
}

/** A refusal whose words the store cannot hold would be written down by nobody, and the message be unknown. */
export function storableOutcome(outcome: Outcome): Outcome {
  if (outcome.kind === 'accepted') return storableTaking(outcome)
  const { detail, providerCode } = outcome
  return {
    ...outcome,
    ...(detail !== undefined && { detail: storable(detail, LONGEST_DETAIL) }),
    ...(providerCode !== undefined && { providerCode: storable(providerCode, LONGEST_CODE) }),
    ...('pieces' in outcome && outcome.pieces && { pieces: storablePieces(outcome.pieces) }),
  } as Outcome
}

/** The provider's code is here what it answered, word for word. */
function storableTaking(outcome: Extract<Outcome, { kind: 'accepted' }>): Outcome {
  const { providerId, code, pieces } = outcome
  return {
    ...outcome,
    providerId: storable(providerId, LONGEST_ID),
    ...(code !== undefined && { code: storable(code, LONGEST_DETAIL) }),
    ...(pieces && { pieces: storablePieces(pieces) }),
  }
}

function storablePieces({ whole, ids, total }: Pieces): Pieces {
  return { whole: storable(whole, LONGEST_ID), ids: ids.map(id => storable(id, LONGEST_ID)), total }
}
