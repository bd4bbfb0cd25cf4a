import type { InboundPart } from '../../contract/reported-message.ts'
import type { PartRow } from './parts-store.ts'

/** 3GPP TS 23.040 numbers parts with one octet. */
const MAX_PARTS = 255
/** Replaces a part that never arrived. */
const MISSING = '…'

/** Whether this is one of several parts; with inconsistent numbers it is treated as a whole message. */
export function isPart(part: InboundPart | undefined): part is InboundPart {
  if (!part) return false
  const { number, total } = part
  return total >= 2 && total <= MAX_PARTS && number >= 1 && number <= total
}

/** The parts of each message, in their order. */
export function groupParts(rows: readonly PartRow[]): PartRow[][] {
  const groups = Map.groupBy(rows, row => JSON.stringify([row.connectionId, row.from, row.to, row.reference]))
  return [...groups.values()].map(parts => parts.toSorted((a, b) => a.number - b.number))
}

/** The text of a message, with a mark for each part that is missing. */
export function joinedText(parts: readonly PartRow[]): string {
  const bodies = new Map(parts.map(({ number, body }) => [number, body.toString('utf16le')]))
  const numbers = Array.from({ length: parts[0]!.total }, (_, at) => at + 1)
  return numbers.map(number => bodies.get(number) ?? MISSING).join('')
}
