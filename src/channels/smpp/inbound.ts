import type { InboundMessage, InboundPart } from '../../contract/reported-message.ts'
import { alphabetOf, decodeSms } from '../../lib/sms-decode.ts'
import { NO_SHIFT, type ShiftTables, shiftTables } from '../../lib/sms-shift.ts'
import type { SmppSettings } from './config.ts'
import { readBody, receiptedMessageId } from './delivery.ts'
import { TLV, type Tlvs } from './pdu.ts'
import type { Delivery } from './session.ts'

const TON_UNKNOWN = 0
const TON_INTERNATIONAL = 1
/** An address of unknown type is a short code up to this many digits, and an international number above. */
const MAX_SHORT_CODE_LENGTH = 6

/**
 * Information elements of a UDH: concatenation with an 8-bit and with a 16-bit reference, and the national language
 * shift tables (23.040, 9.2.3.24).
 */
const CONCATENATED_8 = 0x00
const CONCATENATED_16 = 0x08
const SINGLE_SHIFT = 0x24
const LOCKING_SHIFT = 0x25

/**
 * A message from a phone (MO). Null where it has no readable text. SMPP defines no id for
 * such a message: the SMSC's own id is used if it sends one, else `spareId`.
 */
export function readMessage(
  delivery: Delivery,
  { defaultAlphabet }: Pick<SmppSettings, 'defaultAlphabet'>,
  spareId: () => string,
): InboundMessage | null {
  const { message, tlvs } = delivery
  const alphabet = alphabetOf(message.dataCoding, defaultAlphabet)
  if (alphabet === null) return null
  const { udh, body } = readBody(delivery)
  const part = (udh && partOf(udh)) ?? sarPartOf(tlvs)
  const ownId = receiptedMessageId(tlvs)
  return {
    kind: 'message',
    eventId: ownId || spareId(),
    channel: 'int_sms',
    from: addressOf(message.source, message.sourceTon),
    to: addressOf(message.dest, message.destTon),
    text: decodeSms(body, alphabet, udh ? shiftTablesOf(udh) : NO_SHIFT),
    button: null,
    atMs: null,
    ...(part && { part: ownId ? part : { ...part, unnamed: true } }),
  }
}

/** E.164 with plus where it is a whole number. An address of unknown TON counts as international. */
function addressOf(address: string, ton: number): string {
  const digits = address.replace(/^\+/, '')
  if (!/^\d+$/.test(digits)) return address
  const whole = ton === TON_INTERNATIONAL || (ton === TON_UNKNOWN && digits.length > MAX_SHORT_CODE_LENGTH)
  return whole || address.startsWith('+') ? `+${digits}` : digits
}

function partOf(udh: Buffer): InboundPart | null {
  for (const { element, data } of informationElements(udh)) {
    if (element === CONCATENATED_8 && data.length === 3) {
      return { reference: data[0]!, total: data[1]!, number: data[2]! }
    }
    if (element === CONCATENATED_16 && data.length === 4) {
      return { reference: data.readUInt16BE(0), total: data[2]!, number: data[3]! }
    }
  }
  return null
}

/** Each part of a long message has its own shift tables. */
function shiftTablesOf(udh: Buffer): ShiftTables {
  let [locking, single] = [0, 0]
  for (const { element, data } of informationElements(udh)) {
    if (data.length !== 1) continue
    if (element === LOCKING_SHIFT) locking = data[0]!
    if (element === SINGLE_SHIFT) single = data[0]!
  }
  return locking === 0 && single === 0 ? NO_SHIFT : shiftTables(locking, single)
}

function* informationElements(udh: Buffer): Generator<{ element: number; data: Buffer }> {
  for (let at = 0; at + 2 <= udh.length; at += 2 + udh[at + 1]!) {
    yield { element: udh[at]!, data: udh.subarray(at + 2, at + 2 + udh[at + 1]!) }
  }
}

/** The part as the sar_* optional parameters give it, which some SMSCs send in place of a UDH. */
function sarPartOf(tlvs: Tlvs): InboundPart | null {
  const [reference, total, number] = [TLV.sarReference, TLV.sarTotal, TLV.sarNumber].map(tag => tlvs.get(tag))
  if (reference?.length !== 2 || total?.length !== 1 || number?.length !== 1) return null
  return { reference: reference.readUInt16BE(0), total: total[0]!, number: number[0]! }
}
