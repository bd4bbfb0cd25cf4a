import type { SmppSettings } from './config.ts'
import type { ReadReceipt } from './receipts.ts'

/**
 * Some centres answer a submit with an id in hexadecimal and name the message
 * in the text of the receipt in decimal, or the other way round. The core
 * matches ids exactly, so a receipt's id is put into the submit's spelling here.
 *
 * An id in receipted_message_id is in the submit's base. One in the text follows
 * `receiptIdFormat`: `same`, a conversion, or `auto`. With `auto`, for both:
 *
 * 1. ids that recent submits were given are remembered, free of case and leading zeros,
 *    and give the submit's own spelling;
 *
 * and for the text alone:
 *
 * 2. hexadecimal letters seen in submits and in no receipt, or the other way
 *    round, tell that a conversion is needed, and which; without that sign there
 *    is none, since small numbers would find wrong messages in the other base;
 * 3. the converted id, then the id as it is, is looked up; a hit gives the
 *    submit's own spelling;
 * 4. without a hit (the submit was before a restart, or another node's) the id is
 *    converted if a conversion hit before, else taken as it is.
 */
export type ReceiptIds = {
  /** Notes the id of a submit. */
  submitted(id: string): void
  /** A receipt's id as the submit's answer spelled it, as far as that can be known. */
  resolve(receipt: ReadReceipt): string
}

type Reading = 'same' | 'dec-to-hex' | 'hex-to-dec'

/** Two generations of so many ids are kept. */
const GENERATION = 20_000
/** Longer ones are no numbers that anybody would convert. */
const NUMBER_ID = /^[0-9a-fA-F]{1,20}$/
const HEX_LETTER = /[a-fA-F]/

export function createReceiptIds(format: SmppSettings['receiptIdFormat']): ReceiptIds {
  if (format !== 'auto') {
    return {
      submitted() {},
      resolve: receipt => (receipt.exact ? receipt.id : (convert(receipt.id, format) ?? receipt.id)),
    }
  }
  return createLearner()
}

function createLearner(): ReceiptIds {
  let recent = new Map<string, string>()
  let older = new Map<string, string>()
  let lastId = ''
  let conversionHit = false
  const letters = { inSubmits: false, inReceipts: false }

  function submitted(id: string): void {
    if (!NUMBER_ID.test(id)) return
    if (recent.size >= GENERATION) {
      older = recent
      recent = new Map()
    }
    recent.set(canonical(id), id)
    lastId = id
    letters.inSubmits ||= HEX_LETTER.test(id)
  }

  function resolve({ id, exact }: ReadReceipt): string {
    if (!NUMBER_ID.test(id)) return id
    if (exact) return find(id) ?? id
    letters.inReceipts ||= HEX_LETTER.test(id)
    const converted = convert(id, reading())
    const spelling = converted === null ? undefined : find(converted)
    if (spelling === undefined || converted === null) return find(id) ?? guess(id)
    if (converted !== id) conversionHit = true
    return spelling
  }

  function reading(): Reading {
    if (letters.inSubmits === letters.inReceipts) return 'same'
    return letters.inSubmits ? 'dec-to-hex' : 'hex-to-dec'
  }

  function find(id: string): string | undefined {
    const key = canonical(id)
    return recent.get(key) ?? older.get(key)
  }

  function guess(id: string): string {
    const converted = conversionHit ? convert(id, reading()) : null
    return converted === null || converted === id ? id : spellLike(lastId, converted)
  }

  return { submitted, resolve }
}

/** The id read that way; null where it is no such number. */
function convert(id: string, reading: Reading): string | null {
  if (reading === 'same') return id
  if (!NUMBER_ID.test(id)) return null
  if (reading === 'hex-to-dec') return BigInt(`0x${id}`).toString()
  return /^[0-9]+$/.test(id) ? BigInt(id).toString(16) : null
}

function canonical(id: string): string {
  return id.toLowerCase().replace(/^0+(?=.)/, '')
}

/** In the case and to the width of `model`. */
function spellLike(model: string, id: string): string {
  const padded = model.startsWith('0') ? id.padStart(model.length, '0') : id
  return /[A-F]/.test(model) ? padded.toUpperCase() : padded
}
