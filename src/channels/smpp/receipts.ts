import type { Receipt } from '../provider.ts'
import { messageIdIn, wordsOf } from './delivery.ts'
import { ESM_DELIVERY_RECEIPT, ESM_INTERMEDIATE_NOTIFICATION, ESM_TYPE_MASK, TLV, type Tlvs } from './pdu.ts'
import type { Delivery } from './session.ts'

/** A receipt as the centre worded it, its id not yet matched to a submit's. */
export type ReadReceipt = Omit<Receipt, 'kind' | 'providerId'> & {
  id: string
  /** The id came as receipted_message_id, which has it in the base of the submit’s answer. */
  exact: boolean
}

type Status = Receipt['status']

/**
 * `stat` of the text, and the values of message_state. UNKNOWN says that the
 * centre does not know either, so it counts as "taken" and leaves the message
 * open for a later, better receipt.
 */
const BY_WORD: ReadonlyMap<string, Status> = new Map([
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
  // Spelt out, by those who do not keep to seven letters.
  ['DELIVER', 'delivered'],
  ['ACCEPTE', 'sent'],
  ['REJECTE', 'undelivered'],
  ['FAILED', 'undelivered'],
])

const STATE_WORDS: readonly string[] = [
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

/** Whether a delivery is a report, and not a message that someone sent to us. */
export function isReceipt({ message, tlvs }: Delivery): boolean {
  if (typeOf(message) === ESM_DELIVERY_RECEIPT || isIntermediate(message)) return true
  // Some centres forget the bit; nothing else carries these two.
  return tlvs.has(TLV.receiptedMessageId) && tlvs.has(TLV.messageState)
}

function typeOf({ esmClass }: Delivery['message']): number {
  return esmClass & ESM_TYPE_MASK
}

/** How it went so far, such as a first try that failed, of a message that the centre keeps and tries again. */
function isIntermediate(message: Delivery['message']): boolean {
  return typeOf(message) === ESM_INTERMEDIATE_NOTIFICATION
}

/**
 * The report in a delivery: optional parameters first, then the text that
 * Appendix B of the specification suggests. Null where it names no message or
 * no known state. The text's times are in the centre's own zone, which it does
 * not say, so `atMs` is null.
 */
export function readReceipt(delivery: Delivery): ReadReceipt | null {
  const { message, tlvs } = delivery
  const { body, octets } = wordsOf(delivery)
  const behindHeader = reportText(message.dataCoding, body)
  const text = FIELD.id.test(behindHeader) ? behindHeader : reportText(message.dataCoding, octets)
  const tlvId = messageIdIn(tlvs)
  const id = tlvId || field(text, 'id')
  const word = stateWord(tlvs) ?? field(text, 'stat').toUpperCase().slice(0, 7)
  const said = BY_WORD.get(word)
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

function stateWord(tlvs: Tlvs): string | undefined {
  const state = tlvs.get(TLV.messageState)
  return state?.length === 1 ? STATE_WORDS[state[0]!] : undefined
}

const UCS2 = 8

/**
 * The text up to the quoted message, which its author could have filled with fields of their own. Some
 * centres label it as that message was, in UCS-2, and write octets all the same.
 */
function reportText(dataCoding: number, body: Buffer): string {
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

/** Some centres end the text with a NUL, put commas between the fields, or leave the id empty: the next field is none. */
const FIELD = {
  id: /\bid:\s*(?!(?:sub|dlvrd|submit date|done date|stat|err):)([^\s\0,;]{1,200})/i,
  stat: /\bstat:\s*(\w{1,20})/i,
  err: /\berr:\s*([^\s\0,;]{1,20})/i,
} as const

/** `err` of the text, else network_error_code as `type:code`; null where neither says anything. */
function errorCode(text: string, tlvs: Tlvs): string | null {
  const code = field(text, 'err')
  if (code !== '' && !/^0+$/.test(code)) return code
  const network = tlvs.get(TLV.networkErrorCode)
  if (network?.length !== 3 || network.readUInt16BE(1) === 0) return null
  return `${network[0]}:${network.readUInt16BE(1)}`
}
