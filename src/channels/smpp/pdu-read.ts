import {
  type BindRequest,
  COMMAND,
  HEADER_BYTES,
  LONGEST_PDU_BYTES,
  RESPONSE_BIT,
  responseTo,
  type ShortMessage,
  type Tlvs,
} from './pdu.ts'

/**
 * Reads SMPP 3.4. Nothing here throws, whatever the bytes are: a PDU that does
 * not hold what its command promises is `malformed`.
 * Optional parameters are read as far as they go: centres leave octets behind the
 * text, and one that ended the session for that would meet the same PDU in the next.
 */

export type Pdu = { sequence: number; status: number } & (
  | { kind: 'bind'; command: number; bind: BindRequest }
  | { kind: 'bind_resp'; command: number; systemId: string }
  /** submit_sm, deliver_sm or data_sm; `tlvsCut` where an optional parameter runs past the end. */
  | { kind: 'message'; command: number; message: ShortMessage; tlvs: Tlvs; tlvsCut?: true }
  /** The response to one; a refusal may come without its body. */
  | { kind: 'message_resp'; command: number; messageId: string }
  /** Known commands that are a header alone. */
  | { kind: 'header'; command: number }
  | { kind: 'unknown'; command: number }
  | { kind: 'malformed'; command: number }
)

const BIND_RESPONSES: readonly number[] = [
  responseTo(COMMAND.bindReceiver),
  responseTo(COMMAND.bindTransmitter),
  responseTo(COMMAND.bindTransceiver),
]
const SUBMIT_RESPONSE = responseTo(COMMAND.submitSm)
const DELIVER_RESPONSE = responseTo(COMMAND.deliverSm)
const DATA_RESPONSE = responseTo(COMMAND.dataSm)
const HEADERS: readonly number[] = [
  COMMAND.genericNack,
  COMMAND.unbind,
  responseTo(COMMAND.unbind),
  COMMAND.enquireLink,
  responseTo(COMMAND.enquireLink),
  // These two have a body that nobody here needs, and no response.
  COMMAND.outbind,
  COMMAND.alertNotification,
]

/** The specification has 64; what a stranger sends beyond this is no id. */
const LONGEST_ID_BYTES = 200

/** Reads one whole PDU, as a framer cuts it. */
export function readPdu(frame: Buffer): Pdu {
  const command = frame.readUInt32BE(4)
  const status = frame.readUInt32BE(8)
  const sequence = frame.readUInt32BE(12)
  switch (command) {
    case SUBMIT_RESPONSE:
    case DELIVER_RESPONSE:
    case DATA_RESPONSE:
      return { kind: 'message_resp', command, status, sequence, messageId: readResponseId(frame, status) }
    case COMMAND.submitSm:
    case COMMAND.deliverSm:
    case COMMAND.dataSm:
      return readMessage(frame, command, status, sequence)
    case COMMAND.bindReceiver:
    case COMMAND.bindTransmitter:
    case COMMAND.bindTransceiver:
      return readBind(frame, command, status, sequence)
  }
  if (BIND_RESPONSES.includes(command)) {
    return { kind: 'bind_resp', command, status, sequence, systemId: readResponseId(frame, status) }
  }
  return { kind: HEADERS.includes(command) ? 'header' : 'unknown', command, status, sequence }
}

/** Whether a command is a response, known or not. */
export function isResponse(command: number): boolean {
  return (command & RESPONSE_BIT) !== 0
}

/**
 * The one string of a response: '' where the body was left out. Some leave out its NUL; the PDU's end
 * is its own then. A refusal needs no body, so there a broken one counts as left out.
 */
function readResponseId(frame: Buffer, status: number): string {
  const nul = frame.indexOf(0, HEADER_BYTES)
  if (nul < 0 && status !== 0) return ''
  const end = nul < 0 ? frame.length : nul
  return frame.toString('latin1', HEADER_BYTES, Math.min(end, HEADER_BYTES + LONGEST_ID_BYTES))
}

/** Walks over a body; once it has run past the end it stays `failed` and yields nothing. */
type Cursor = { frame: Buffer; at: number; failed: boolean }

function octet(cursor: Cursor): number {
  if (cursor.at >= cursor.frame.length) {
    cursor.failed = true
    return 0
  }
  return cursor.frame[cursor.at++]!
}

function cstring(cursor: Cursor): string {
  const end = cursor.failed ? -1 : cursor.frame.indexOf(0, cursor.at)
  if (end < 0) {
    cursor.failed = true
    return ''
  }
  const text = cursor.frame.toString('latin1', cursor.at, end)
  cursor.at = end + 1
  return text
}

const NOTHING = Buffer.alloc(0)

function octets(cursor: Cursor, length: number): Buffer {
  const end = cursor.at + length
  if (cursor.failed || end > cursor.frame.length) {
    cursor.failed = true
    return NOTHING
  }
  const bytes = cursor.frame.subarray(cursor.at, end)
  cursor.at = end
  return bytes
}

function readBind(frame: Buffer, command: number, status: number, sequence: number): Pdu {
  const cursor: Cursor = { frame, at: HEADER_BYTES, failed: false }
  const bind: BindRequest = {
    systemId: cstring(cursor),
    password: cstring(cursor),
    systemType: cstring(cursor),
    interfaceVersion: octet(cursor),
    addressTon: octet(cursor),
    addressNpi: octet(cursor),
    addressRange: cstring(cursor),
  }
  if (cursor.failed) return { kind: 'malformed', command, status, sequence }
  return { kind: 'bind', command, status, sequence, bind }
}

function readMessage(frame: Buffer, command: number, status: number, sequence: number): Pdu {
  const cursor: Cursor = { frame, at: HEADER_BYTES, failed: false }
  const message = command === COMMAND.dataSm ? readDataSm(cursor) : readShortMessage(cursor)
  if (cursor.failed) return { kind: 'malformed', command, status, sequence }
  return { kind: 'message', command, status, sequence, message, ...readTlvs(cursor) }
}

function readShortMessage(cursor: Cursor): ShortMessage {
  const serviceType = cstring(cursor)
  const sourceTon = octet(cursor)
  const sourceNpi = octet(cursor)
  const source = cstring(cursor)
  const destTon = octet(cursor)
  const destNpi = octet(cursor)
  const dest = cstring(cursor)
  const esmClass = octet(cursor)
  // protocol_id, priority_flag, schedule_delivery_time, validity_period.
  octet(cursor)
  octet(cursor)
  cstring(cursor)
  cstring(cursor)
  const registeredDelivery = octet(cursor)
  // replace_if_present_flag.
  octet(cursor)
  const dataCoding = octet(cursor)
  // sm_default_msg_id.
  octet(cursor)
  const body = octets(cursor, octet(cursor))
  return {
    serviceType,
    sourceTon,
    sourceNpi,
    source,
    destTon,
    destNpi,
    dest,
    esmClass,
    registeredDelivery,
    dataCoding,
    udh: null,
    body,
  }
}

/** data_sm has the same addresses and no text of its own: that is in message_payload. */
function readDataSm(cursor: Cursor): ShortMessage {
  return {
    serviceType: cstring(cursor),
    sourceTon: octet(cursor),
    sourceNpi: octet(cursor),
    source: cstring(cursor),
    destTon: octet(cursor),
    destNpi: octet(cursor),
    dest: cstring(cursor),
    esmClass: octet(cursor),
    registeredDelivery: octet(cursor),
    dataCoding: octet(cursor),
    udh: null,
    body: NOTHING,
  }
}

const NO_TLVS: Tlvs = new Map()

const TLV_HEADER_BYTES = 4

/** Fewer octets than a header has are no parameter; one that runs past the end is left out. */
function readTlvs(cursor: Cursor): { tlvs: Tlvs; tlvsCut?: true } {
  if (cursor.at === cursor.frame.length) return { tlvs: NO_TLVS }
  const tlvs = new Map<number, Buffer>()
  while (cursor.frame.length - cursor.at >= TLV_HEADER_BYTES) {
    const tag = (octet(cursor) << 8) | octet(cursor)
    const length = (octet(cursor) << 8) | octet(cursor)
    const value = octets(cursor, length)
    if (cursor.failed) return { tlvs, tlvsCut: true }
    tlvs.set(tag, value)
  }
  return { tlvs }
}

/** Cuts a byte stream into PDUs. */
export type Framer = {
  /**
   * Hands every PDU that is now whole to `take`, until it answers false. False
   * when the stream is broken (a length below 16 or above 64 KiB) or `take`
   * had enough: nothing may be fed after that.
   */
  feed(chunk: Buffer, take: (frame: Buffer) => boolean): boolean
}

export function createFramer(): Framer {
  /** The start of a PDU whose rest has not come; sized for all of it once its length is known. */
  let partial = Buffer.alloc(0)
  let filled = 0

  function feed(chunk: Buffer, take: (frame: Buffer) => boolean): boolean {
    let at = 0
    if (filled > 0) {
      at = complete(chunk, take)
      if (at < 0) return false
    }
    while (chunk.length - at >= 4) {
      const length = chunk.readUInt32BE(at)
      if (length < HEADER_BYTES || length > LONGEST_PDU_BYTES) return false
      if (chunk.length - at < length) break
      if (!take(chunk.subarray(at, at + length))) return false
      at += length
    }
    if (at < chunk.length) keep(chunk.subarray(at))
    return true
  }

  /** Fills the kept start from the chunk; how much of it was used, or -1 for a broken stream. */
  function complete(chunk: Buffer, take: (frame: Buffer) => boolean): number {
    let at = 0
    if (filled < 4) {
      at = fill(chunk, at, 4)
      if (filled < 4) return at
    }
    const length = partial.readUInt32BE(0)
    if (length < HEADER_BYTES || length > LONGEST_PDU_BYTES) return -1
    grow(length)
    at = fill(chunk, at, length)
    if (filled < length) return at
    filled = 0
    const frame = partial.subarray(0, length)
    partial = Buffer.alloc(0)
    return take(frame) ? at : -1
  }

  function fill(chunk: Buffer, from: number, upTo: number): number {
    const copied = chunk.copy(partial, filled, from, from + upTo - filled)
    filled += copied
    return from + copied
  }

  function grow(length: number): void {
    if (partial.length >= length) return
    const next = Buffer.alloc(length)
    partial.copy(next, 0, 0, filled)
    partial = next
  }

  function keep(rest: Buffer): void {
    grow(Math.max(rest.length, HEADER_BYTES))
    filled = rest.copy(partial)
  }

  return { feed }
}
