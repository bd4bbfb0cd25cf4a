import type { SmppSettings } from './config.ts'
import type { ReadReceipt } from './receipts.ts'

/**
 * Some centres answer a submit with an id in hexadecimal and name the message
 * in the text of the receipt in decimal, or the other way round. The core
 * matches ids exactly, so a receipt's id is put into the submit's spelling here.
 *
 * An id in receipted_message_id is taken as it is. One in the text follows
 * `receiptIdFormat`: `same`, a conversion, or `auto`:
 *
 * 1. ids that recent submits were given are remembered, free of case and leading zeros;
 * 2. the id as it is and its conversions are looked up there; the one that hits
 *    gives the submit's own spelling. Where several hit, hexadecimal letters on
 *    one side only tell which side is hexadecimal, else the reading that
 *    explained most receipts so far wins;
 * 3. without a hit that reading is used, and before any hit the id as it is.
 *
 * Once a centre has shown that it uses `same` (three hits that no other reading
 * explains) or receipted_message_id, nothing is remembered any longer.
 */
export type ReceiptIds = {
  /** Notes the id of a submit. */
  submitted(id: string): void
  /** A receipt's id as the submit's answer spelled it, as far as that can be known. */
  resolve(receipt: ReadReceipt): string
}

type Reading = 'same' | 'dec-to-hex' | 'hex-to-dec'

const READINGS: readonly Reading[] = ['same', 'dec-to-hex', 'hex-to-dec']
/** Two generations of so many ids are kept. */
const GENERATION = 20_000
/** Longer ones are no numbers that anybody would convert. */
const NUMBER_ID = /^[0-9a-fA-F]{1,20}$/
const HEX_LETTER = /[a-fA-F]/
/** Receipts that prove a centre uses one spelling. */
const SURE = 3

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
  let learning = true
  let recent = new Map<string, string>()
  let older = new Map<string, string>()
  let lastId = ''
  /** Receipts that only this reading explained. */
  const votes: Record<Reading, number> = { same: 0, 'dec-to-hex': 0, 'hex-to-dec': 0 }
  const letters = { inSubmits: false, inReceipts: false }

  function submitted(id: string): void {
    if (!learning || !NUMBER_ID.test(id)) return
    if (recent.size >= GENERATION) {
      older = recent
      recent = new Map()
    }
    recent.set(canonical(id), id)
    lastId = id
    letters.inSubmits ||= HEX_LETTER.test(id)
  }

  function resolve({ id, exact }: ReadReceipt): string {
    if (exact) {
      forget()
      return id
    }
    if (!learning || !NUMBER_ID.test(id)) return id
    letters.inReceipts ||= HEX_LETTER.test(id)
    const hits = hitsOf(id)
    if (hits.size === 0) return guess(id)
    const [onlyReading, onlySpelling] = hits.entries().next().value!
    if (hits.size > 1) return hits.get(preferred()) ?? onlySpelling
    vote(onlyReading, id, onlySpelling)
    return onlySpelling
  }

  /** The submit's spelling by each reading that finds one; readings that agree count once. */
  function hitsOf(id: string): Map<Reading, string> {
    const hits = new Map<Reading, string>()
    for (const reading of READINGS) {
      const key = convert(id, reading)
      const spelling = key === null ? undefined : find(canonical(key))
      if (spelling !== undefined && ![...hits.values()].includes(spelling)) hits.set(reading, spelling)
    }
    return hits
  }

  function find(key: string): string | undefined {
    return recent.get(key) ?? older.get(key)
  }

  function vote(reading: Reading, id: string, spelling: string): void {
    // Numbers below ten read the same in both bases; a changed spelling still needs its memory.
    if (reading === 'same' && (canonical(id).length < 2 || spelling !== id)) return
    votes[reading]++
    if (votes.same >= SURE && votes['dec-to-hex'] + votes['hex-to-dec'] === 0) forget()
  }

  function preferred(): Reading {
    if (letters.inSubmits !== letters.inReceipts) return letters.inSubmits ? 'dec-to-hex' : 'hex-to-dec'
    return mostVoted()
  }

  function mostVoted(): Reading {
    return READINGS.reduce((best, reading) => (votes[reading] > votes[best] ? reading : best))
  }

  /** For a message that was submitted before we started, or by another node. */
  function guess(id: string): string {
    const reading = mostVoted()
    return reading === 'same' ? id : spellLike(lastId, convert(id, reading) ?? id)
  }

  function forget(): void {
    learning = false
    recent = new Map()
    older = new Map()
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
