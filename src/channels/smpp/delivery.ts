import { ESM_UDHI, TLV, type Tlvs } from './pdu.ts'
import type { Delivery } from './session.ts'

/**
 * The text of a delivery, as octets, apart from the header that may stand before it. It is in
 * message_payload or in the PDU itself; centres that mean the latter may leave the former empty.
 * `octets` is both, for what may have been announced with a header and have none.
 */
export function wordsOf({ message, tlvs }: Delivery): { udh: Buffer | null; body: Buffer; octets: Buffer } {
  const payload = tlvs.get(TLV.messagePayload)
  const octets = payload && payload.length > 0 ? payload : message.body
  if (!(message.esmClass & ESM_UDHI)) return { udh: null, body: octets, octets }
  const end = Math.min((octets[0] ?? 0) + 1, octets.length)
  return { udh: octets.subarray(1, end), body: octets.subarray(end), octets }
}

/** The id that a delivery has as an optional parameter; '' for none. It should end with a NUL; some leave that out. */
export function messageIdIn(tlvs: Tlvs): string {
  const bytes = tlvs.get(TLV.receiptedMessageId)
  if (!bytes) return ''
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
}
