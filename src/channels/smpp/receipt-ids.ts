import type { SmppSettings } from './config.ts'
import type { ReadReceipt } from './receipts.ts'

/**
 * Some centres answer a submit with an id in hexadecimal and name the message
 * in the text of the receipt in decimal, or the other way round. The core
 * matches ids exactly, so a receipt's id is put into the submit's spelling here.
 *
 * An id in receipted_message_id is in the submit's base. One in the text follows
 * `receiptIdFormat`: `same`, which touches none, a conversion, or `auto`. With the
 * latter two, for both:
 *
 * 1. ids that recent submits were given are remembered, free of case and leading zeros,
 *    and give the submit's own spelling;
 *
 * and for the text alone:
 *
 * 2. with `auto`, hexadecimal letters seen in submits and in no receipt, or the other way
 *    round, tell that a conversion is needed, and which; without that sign there
 *    is none, since small numbers would find wrong messages in the other base;
 * 3. the converted id, then with `auto` the id as it is, is looked up; a hit gives the
 *    submit's own spelling;
 * 4. without a hit (the submit was before a restart, or another node's) the id is
 *    converted, with `auto` if a conversion hit before, and spelled as recent submits were;
 *    else it is taken as it is.
 */
export type ReceiptIds = {
  /** Notes the id of a submit. */
  submitted(id: string): void
  /** A receipt's id as the submit's answer spelled it, as far as that can be known. */
  resolve(receipt: ReadReceipt): string
}

type Conversion = 'dec-to-hex' | 'hex-to-dec'
type Reading = 'same' | Conversion

/** Two generations of so many ids are kept. */
const GENERATION = 20_000
/** Longer ones are no numbers that anybody would convert. */
const NUMBER_ID = /^[0-9a-fA-F]{1,20}$/
const HEX_LETTER = /[a-fA-F]/

export function createReceiptIds(format: SmppSettings['receiptIdFormat']): ReceiptIds {
  return format === 'same' ? { submitted() {}, resolve: receipt => receipt.id } : createLearner(format)
}

function createLearner(format: 'auto' | Conversion): ReceiptIds {
  let recent = new Map<string, string>()
  let older = new Map<string, string>()
  let lastId = ''
  let isSure = format !== 'auto'
  const letters = { inSubmits: false, inReceipts: false, large: false }

  function submitted(id: string): void {
    if (!NUMBER_ID.test(id)) return
    if (recent.size >= GENERATION) {
      older = recent
      recent = new Map()
    }
    recent.set(canonical(id), id)
    lastId = id
    if (!HEX_LETTER.test(id)) return
    letters.inSubmits = true
    letters.large = /[A-F]/.test(id)
  }

  function resolve({ id, exact }: ReadReceipt): string {
    if (!NUMBER_ID.test(id)) return id
    if (exact) return find(id) ?? id
    letters.inReceipts ||= HEX_LETTER.test(id)
    const converted = convert(id, reading())
    if (converted === null) return find(id) ?? id
    const spelling = find(converted)
    if (spelling === undefined) return (format === 'auto' ? find(id) : undefined) ?? guess(id, converted)
    if (converted !== id) isSure = true
    return spelling
  }

  function reading(): Reading {
    if (format !== 'auto') return format
    if (letters.inSubmits === letters.inReceipts) return 'same'
    return letters.inSubmits ? 'dec-to-hex' : 'hex-to-dec'
  }

  function find(id: string): string | undefined {
    const key = canonical(id)
    return recent.get(key) ?? older.get(key)
  }

  /** Of a submit that is not remembered; to the width of the last one, in the case that they have. */
  function guess(id: string, converted: string): string {
    if (!isSure || reading() === 'same') return id
    const padded = lastId.startsWith('0') ? converted.padStart(lastId.length, '0') : converted
    return letters.large ? padded.toUpperCase() : padded
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
