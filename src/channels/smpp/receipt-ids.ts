import type { SmppSettings } from './config.ts'
import type { ParsedReceipt } from './receipts.ts'

/**
 * Some SMSCs answer a submit with an id in hexadecimal and name the message
 * in the text of the receipt in decimal, or the other way round. The core
 * matches ids exactly, so a receipt's id is converted here to the form that the submit's response had.
 *
 * An id in receipted_message_id is in the submit's base, unless a conversion is configured and such ids match submits
 * only when they are converted. An id in the text follows
 * `receiptIdFormat`: `same`, which converts nothing, a fixed conversion, or `auto`. With a
 * conversion and with `auto`, for ids of both places:
 *
 * 1. the ids of recent submits are remembered; a receipt's id that differs from one only in case
 *    or leading zeros is given the submit's spelling;
 *
 * and for ids in the text only:
 *
 * 2. with `auto`, hexadecimal letters seen in submits but in no receipt, or the other way
 *    round, show which conversion is needed; without such evidence nothing is
 *    converted, since a small number read in the other base may be another message's id;
 * 3. the converted id, then with `auto` the id as it is, is looked up; a hit gives the
 *    submit's own spelling;
 * 4. without a hit (the submit was before a restart, or on another node) the id is
 *    converted and spelled like the ids of recent submits, or of earlier ones before the first submit; with `auto` only
 *    if a conversion has hit before, else the id stays as it is.
 */
export type ReceiptIds = {
  /** Records the id in the response to a submit. */
  recordSubmitted(id: string): void
  /** Records ids of submits before a restart or on other nodes, the highest first: they are spelled as later ones are. */
  recordEarlier(ids: readonly string[]): void
  /** A receipt's id as the submit's answer spelled it, as far as that can be known. */
  resolve(receipt: ParsedReceipt): string
  /** How the submit's answer may have spelled the id of a text that may be no receipt: nothing is learned from it. */
  spellings(id: string): readonly string[]
}

type Conversion = 'dec-to-hex' | 'hex-to-dec'
type ConversionOrSame = 'same' | Conversion

/** Two generations of so many ids are kept. */
const GENERATION_ITEMS = 20_000
/** Longer ids are not numbers that an SMSC converts. */
const NUMBER_ID = /^[0-9a-fA-F]{1,20}$/
const HEX_LETTER = /[a-fA-F]/

export function createReceiptIds(format: SmppSettings['receiptIdFormat']): ReceiptIds {
  return format === 'same'
    ? { recordSubmitted() {}, recordEarlier() {}, resolve: receipt => receipt.id, spellings: id => [id] }
    : createIdMatcher(format)
}

function createIdMatcher(format: 'auto' | Conversion): ReceiptIds {
  let recent = new Map<string, string>()
  let older = new Map<string, string>()
  let lastId = ''
  let isConversionProven = format !== 'auto'
  /** Whose base ids in receipted_message_id have; null until one has shown it. */
  let exactBase: 'submit' | 'text' | null = null
  const letters = { inSubmits: false, inReceipts: false, upperCase: false }

  function recordSubmitted(id: string): void {
    if (!NUMBER_ID.test(id)) return
    if (recent.size >= GENERATION_ITEMS) {
      older = recent
      recent = new Map()
    }
    recent.set(canonical(id), id)
    lastId = id
    if (!HEX_LETTER.test(id)) return
    letters.inSubmits = true
    letters.upperCase = /[A-F]/.test(id)
  }

  /** What submits of this process showed already is not changed. */
  function recordEarlier(ids: readonly string[]): void {
    for (const id of ids.filter(each => NUMBER_ID.test(each))) {
      older.set(canonical(id), id)
      lastId ||= id
      if (letters.inSubmits || !HEX_LETTER.test(id)) continue
      letters.inSubmits = true
      letters.upperCase = /[A-F]/.test(id)
    }
  }

  function resolve({ id, exact }: ParsedReceipt): string {
    if (!NUMBER_ID.test(id)) return id
    if (exact) return resolveExact(id)
    letters.inReceipts ||= HEX_LETTER.test(id)
    const converted = convert(id, conversion())
    if (converted === null) return find(id) ?? id
    const spelling = find(converted)
    if (spelling === undefined)
      return (format === 'auto' ? find(id) : undefined) ?? convertUnmatched(id, converted)
    if (converted !== id) isConversionProven = true
    return spelling
  }

  function spellings(id: string): readonly string[] {
    const asItIs = find(id) ?? id
    const reading = conversion(letters.inReceipts || HEX_LETTER.test(id))
    const converted = reading === 'same' ? null : convert(id, reading)
    return converted === null ? [asItIs] : [find(converted) ?? likeSubmits(converted), asItIs]
  }

  /** Some SMSCs write the id of the text also into receipted_message_id. */
  function resolveExact(id: string): string {
    const converted = format === 'auto' ? null : convert(id, format)
    const unconverted = find(id)
    if (unconverted !== undefined) {
      if (converted === null || canonical(converted) !== canonical(id)) exactBase ??= 'submit'
      return unconverted
    }
    if (converted === null || exactBase === 'submit') return id
    const spelling = find(converted)
    if (spelling !== undefined) exactBase = 'text'
    return spelling ?? (exactBase === 'text' ? convertUnmatched(id, converted) : id)
  }

  function conversion(inReceipts = letters.inReceipts): ConversionOrSame {
    if (format !== 'auto') return format
    if (letters.inSubmits === inReceipts) return 'same'
    return letters.inSubmits ? 'dec-to-hex' : 'hex-to-dec'
  }

  function find(id: string): string | undefined {
    const key = canonical(id)
    return recent.get(key) ?? older.get(key)
  }

  /** For a submit that is not remembered: the converted id, padded and cased like the ids of recent submits. */
  function convertUnmatched(id: string, converted: string): string {
    return isConversionProven && conversion() !== 'same' ? likeSubmits(converted) : id
  }

  function likeSubmits(converted: string): string {
    const padded = lastId.startsWith('0') ? converted.padStart(lastId.length, '0') : converted
    return letters.upperCase ? padded.toUpperCase() : padded
  }

  return { recordSubmitted, recordEarlier, resolve, spellings }
}

/** The id converted; null where it is not a number in the base to convert from. */
function convert(id: string, reading: ConversionOrSame): string | null {
  if (reading === 'same') return id
  if (!NUMBER_ID.test(id)) return null
  if (reading === 'hex-to-dec') return BigInt(`0x${id}`).toString()
  return /^[0-9]+$/.test(id) ? BigInt(id).toString(16) : null
}

function canonical(id: string): string {
  return id.toLowerCase().replace(/^0+(?=.)/, '')
}
