import { ESM_UDHI, TLV, type Tlvs } from './pdu.ts'
import type { Delivery } from './session.ts'

/**
 * The text of a delivery as octets, without its user data header (UDH). It is in message_payload or in short_message;
 * some SMSCs send an empty message_payload beside a short_message.
 * `octets` is header and text together: some SMSCs set the UDH bit on texts that have no header.
 */
export function readBody({ message, tlvs }: Delivery): { udh: Buffer | null; body: Buffer; octets: Buffer } {
  const payload = tlvs.get(TLV.messagePayload)
  const octets = payload && payload.length > 0 ? payload : message.body
  const end = (octets[0] ?? 0) + 1
  const isHeaded = (message.esmClass & ESM_UDHI) !== 0 && end <= octets.length
  if (!isHeaded) return { udh: null, body: octets, octets }
  return { udh: octets.subarray(1, end), body: octets.subarray(end), octets }
}

/** receipted_message_id, or '' without one. Some SMSCs leave out the NUL at its end. */
export function receiptedMessageId(tlvs: Tlvs): string {
  const bytes = tlvs.get(TLV.receiptedMessageId)
  if (!bytes) return ''
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
}
