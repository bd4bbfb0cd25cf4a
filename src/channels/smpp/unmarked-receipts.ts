import { createGenerations } from '../../lib/generations.ts'
import type { Io } from '../provider.ts'
import { readBody } from './delivery.ts'
import type { ReceiptIds } from './receipt-ids.ts'
import { type ParsedReceipt, readReceipt } from './receipts.ts'
import type { Delivery } from './session.ts'

/**
 * Receipts that nothing but their text tells from a person's message: some SMSCs set neither the bit in esm_class nor the
 * optional parameters. Anybody can write such a text, so it counts only where it names a message that this connection
 * submitted, and comes from the one it went to (or goes to them: some SMSCs do not swap the addresses).
 * Whoever writes it by hand can thus forge only the receipt of a message that they got themselves, and only if they know its id.
 */
export type UnmarkedReceipts = {
  /** A text that may be a receipt; null for any other. */
  candidateIn(delivery: Delivery): ParsedReceipt | null
  /** The id of the message as its submit was answered; null where it is a person's message. Rejects when the store is away. */
  submittedId(candidate: ParsedReceipt, delivery: Delivery): Promise<string | null>
  /** Records the answer to a submit. */
  recordSubmitted(id: string, to: string): void
}

const BEGINS_WITH_ID = /^\s*id:/i
/** So many submits are remembered: their receipt may be here before they are stored. */
const MAX_REMEMBERED = 40_000

export function createUnmarkedReceipts(ids: ReceiptIds, io: Pick<Io, 'recipientsOf'>): UnmarkedReceipts {
  const recent = createGenerations<string, string>(MAX_REMEMBERED)
  /** Most SMSCs mark their receipts. Nothing is remembered until one has not. */
  let isRemembering = false

  function candidateIn(delivery: Delivery): ParsedReceipt | null {
    // In UCS-2, every other octet is 0.
    const start = readBody(delivery).body.toString('latin1', 0, 20).replaceAll('\0', '')
    if (!BEGINS_WITH_ID.test(start)) return null
    const read = readReceipt(delivery)
    if (read) isRemembering = true
    return read
  }

  async function submittedId(candidate: ParsedReceipt, { message }: Delivery): Promise<string | null> {
    const parties = [message.source, message.dest].map(digitsOf)
    const isTo = (to: string | undefined): boolean => to !== undefined && parties.includes(digitsOf(to))
    const spellings = ids.spellings(candidate.id)
    const remembered = spellings.find(id => isTo(recent.get(id)))
    if (remembered !== undefined) return remembered
    const stored = await io.recipientsOf(spellings)
    return spellings.find(id => isTo(stored.get(id))) ?? null
  }

  return {
    candidateIn,
    submittedId,
    recordSubmitted(id, to) {
      if (isRemembering) recent.set(id, to)
    },
  }
}

function digitsOf(address: string): string {
  return address.replace(/^\+/, '')
}
