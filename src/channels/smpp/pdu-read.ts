import {
  type BindRequest,
  COMMAND,
  HEADER_BYTES,
  MAX_PDU_BYTES,
  RESPONSE_BIT,
  responseTo,
  type ShortMessage,
  type Tlvs,
} from './pdu.ts'

/**
 * Reads SMPP 3.4. Nothing here throws, whatever the bytes are: a PDU whose body does
 * not fit its command is `malformed`.
 * Broken optional parameters are no error: some SMSCs leave stray octets behind the
 * text, and would send the same PDU again in the next session if we ended this one.
 */

export type Pdu = { sequence: number; status: number } & (
  | { kind: 'bind'; command: number; bind: BindRequest }
  | { kind: 'bind_resp'; command: number; systemId: string }
  /** submit_sm, deliver_sm or data_sm; `tlvsCut`: an optional parameter was longer than the PDU. */
  | { kind: 'message'; command: number; message: ShortMessage; tlvs: Tlvs; tlvsCut?: true }
  /** The response to one of these; `messageId` is '' where the body was left out, as it may be in a refusal. */
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
const HEADER_ONLY_COMMANDS: readonly number[] = [
  COMMAND.genericNack,
  COMMAND.unbind,
  responseTo(COMMAND.unbind),
  COMMAND.enquireLink,
  responseTo(COMMAND.enquireLink),
  // These two have no response, and a body that is not used here.
  COMMAND.outbind,
  COMMAND.alertNotification,
]

/** SMPP allows 64 octets. Some SMSCs send longer ids; anything beyond this is not taken for an id. */
const MAX_ID_BYTES = 200

/** Reads one whole PDU, as the framer cuts it from the stream. */
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
  return { kind: HEADER_ONLY_COMMANDS.includes(command) ? 'header' : 'unknown', command, status, sequence }
}

/** Whether a command is a response, known or not. */
export function isResponse(command: number): boolean {
  return (command & RESPONSE_BIT) !== 0
}

/**
 * The one string of a response: '' where the body was left out. Some SMSCs leave out the NUL; the string
 * then ends with the PDU. A refusal needs no body, so a broken body counts as left out there.
 */
function readResponseId(frame: Buffer, status: number): string {
  const nul = frame.indexOf(0, HEADER_BYTES)
  if (nul < 0 && status !== 0) return ''
  const end = nul < 0 ? frame.length : nul
  return frame.toString('latin1', HEADER_BYTES, Math.min(end, HEADER_BYTES + MAX_ID_BYTES))
}

/** A read position in a body. Reading past the end sets `failed`; every later read then gives nothing. */
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

const EMPTY = Buffer.alloc(0)

function octets(cursor: Cursor, length: number): Buffer {
  const end = cursor.at + length
  if (cursor.failed || end > cursor.frame.length) {
    cursor.failed = true
    return EMPTY
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

/** data_sm has the same addresses, but no short_message: its text is in message_payload. */
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
    body: EMPTY,
  }
}

const NO_TLVS: Tlvs = new Map()

const TLV_HEADER_BYTES = 4

/** Trailing octets too few for a TLV header are ignored; a TLV that is longer than the PDU is left out. */
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
   * Calls `take` with each complete PDU until `take` returns false. Returns false
   * where the stream is broken (a length below 16 or above 64 KiB) or `take`
   * returned false; do not feed it again after that.
   */
  feed(chunk: Buffer, take: (frame: Buffer) => boolean): boolean
}

export function createFramer(): Framer {
  /** The start of an incomplete PDU; once its length is known the buffer has room for all of it. */
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
      if (length < HEADER_BYTES || length > MAX_PDU_BYTES) return false
      if (chunk.length - at < length) break
      if (!take(chunk.subarray(at, at + length))) return false
      at += length
    }
    if (at < chunk.length) keep(chunk.subarray(at))
    return true
  }

  /** Appends the chunk to the incomplete PDU; the octets used, or -1 for a broken stream. */
  function complete(chunk: Buffer, take: (frame: Buffer) => boolean): number {
    let at = 0
    if (filled < 4) {
      at = fill(chunk, at, 4)
      if (filled < 4) return at
    }
    const length = partial.readUInt32BE(0)
    if (length < HEADER_BYTES || length > MAX_PDU_BYTES) return -1
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
