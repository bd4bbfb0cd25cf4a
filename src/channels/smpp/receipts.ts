import type { Receipt } from '../provider.ts'
import { readBody, receiptedMessageId } from './delivery.ts'
import { ESM_DELIVERY_RECEIPT, ESM_INTERMEDIATE_NOTIFICATION, ESM_TYPE_MASK, TLV, type Tlvs } from './pdu.ts'
import type { Delivery } from './session.ts'

/** A receipt whose id is still spelled as the SMSC spelled it. */
export type ParsedReceipt = Omit<Receipt, 'kind' | 'providerId'> & {
  id: string
  /** The id came as receipted_message_id, which has it in the base of the submit’s answer. */
  exact: boolean
}

type Status = Receipt['status']

/**
 * `stat` of the text, and the values of message_state. UNKNOWN means that the
 * SMSC does not know the state: it counts as `sent`, which a later receipt
 * may still change.
 */
const STATUS_BY_STAT: ReadonlyMap<string, Status> = new Map([
  ['SCHEDUL', 'sent'],
  ['ENROUTE', 'sent'],
  ['ACCEPTD', 'sent'],
  ['UNKNOWN', 'sent'],
  ['DELIVRD', 'delivered'],
  ['EXPIRED', 'undelivered'],
  ['DELETED', 'undelivered'],
  ['UNDELIV', 'undelivered'],
  ['REJECTD', 'undelivered'],
  ['SKIPPED', 'undelivered'],
  // From SMSCs that do not shorten the words to seven letters.
  ['DELIVER', 'delivered'],
  ['ACCEPTE', 'sent'],
  ['REJECTE', 'undelivered'],
  ['FAILED', 'undelivered'],
])

const STAT_BY_MESSAGE_STATE: readonly string[] = [
  'SCHEDUL',
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
  'SKIPPED',
]

/** Whether a deliver_sm is a delivery receipt, and not a message from a phone. */
export function isReceipt({ message, tlvs }: Delivery): boolean {
  if (typeOf(message) === ESM_DELIVERY_RECEIPT || isIntermediate(message)) return true
  // Some SMSCs do not set the bit in esm_class; only receipts have both of these parameters.
  return tlvs.has(TLV.receiptedMessageId) && tlvs.has(TLV.messageState)
}

function typeOf({ esmClass }: Delivery['message']): number {
  return esmClass & ESM_TYPE_MASK
}

/** An intermediate notification: the SMSC has failed once, and tries again. No final state. */
function isIntermediate(message: Delivery['message']): boolean {
  return typeOf(message) === ESM_INTERMEDIATE_NOTIFICATION
}

/**
 * The receipt in a delivery: from optional parameters, else from the text format
 * of Appendix B of the specification. Null where it names no message or
 * no known state. `atMs` is null: the times in the text are in the SMSC's
 * own time zone, which it does not name.
 */
export function readReceipt(delivery: Delivery): ParsedReceipt | null {
  const { message, tlvs } = delivery
  const { body, octets } = readBody(delivery)
  const behindHeader = receiptText(message.dataCoding, body)
  const text = FIELD.id.test(behindHeader) ? behindHeader : receiptText(message.dataCoding, octets)
  const tlvId = receiptedMessageId(tlvs)
  const id = tlvId || field(text, 'id')
  const word = statOfMessageState(tlvs) ?? field(text, 'stat').toUpperCase().slice(0, 7)
  const said = STATUS_BY_STAT.get(word)
  if (id === '' || !said) return null
  const status = said === 'undelivered' && isIntermediate(message) ? 'sent' : said
  return {
    id,
    exact: tlvId !== '',
    status,
    atMs: null,
    providerCode: errorCode(text, tlvs),
    detail: status === 'delivered' ? null : word,
  }
}

function statOfMessageState(tlvs: Tlvs): string | undefined {
  const state = tlvs.get(TLV.messageState)
  return state?.length === 1 ? STAT_BY_MESSAGE_STATE[state[0]!] : undefined
}

const UCS2 = 8

/**
 * The text up to the quoted message (`text:`), since the author of the message could have put such fields into it. Some
 * SMSCs copy the data_coding of the message, such as UCS-2, although the receipt itself is in ASCII.
 */
function receiptText(dataCoding: number, body: Buffer): string {
  const octets = body.toString('latin1')
  const text = dataCoding === UCS2 && !FIELD.id.test(octets) ? ucs2(body) : octets
  const quoted = text.search(/\btext:/i)
  return quoted < 0 ? text : text.slice(0, quoted)
}

function ucs2(body: Buffer): string {
  return Buffer.from(body.subarray(0, body.length & ~1))
    .swap16()
    .toString('utf16le')
}

function field(text: string, name: 'id' | 'stat' | 'err'): string {
  return FIELD[name].exec(text)?.[1] ?? ''
}

/** Some SMSCs end the text with a NUL, separate fields by commas, or leave the id empty: the next field's name is not an id. */
const FIELD = {
  id: /\bid:\s*(?!(?:sub|dlvrd|submit date|done date|stat|err):)([^\s\0,;]{1,200})/i,
  stat: /\bstat:\s*(\w{1,20})/i,
  err: /\berr:\s*([^\s\0,;]{1,20})/i,
} as const

/** `err` of the text, else network_error_code as `type:code`; null without either. */
function errorCode(text: string, tlvs: Tlvs): string | null {
  const code = field(text, 'err')
  if (code !== '' && !/^0+$/.test(code)) return code
  const network = tlvs.get(TLV.networkErrorCode)
  if (network?.length !== 3 || network.readUInt16BE(1) === 0) return null
  return `${network[0]}:${network.readUInt16BE(1)}`
}
