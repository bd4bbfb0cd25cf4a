/**
 * SMPP 3.4: its constants, and writing PDUs. `pdu-read.ts` reads them.
 * Only the commands that a client (and the tests' SMSC) uses; every other one is `unknown`.
 */

export const COMMAND = {
  genericNack: 0x80000000,
  bindReceiver: 0x00000001,
  bindTransmitter: 0x00000002,
  submitSm: 0x00000004,
  deliverSm: 0x00000005,
  unbind: 0x00000006,
  bindTransceiver: 0x00000009,
  outbind: 0x0000000b,
  enquireLink: 0x00000015,
  alertNotification: 0x00000102,
  dataSm: 0x00000103,
} as const

/** Set in the command id of every response. */
export const RESPONSE_BIT = 0x80000000

/** The command id of the response to `command`. */
export function responseTo(command: number): number {
  return (command | RESPONSE_BIT) >>> 0
}

export const HEADER_BYTES = 16
/** The longest PDU accepted; a short message with every optional parameter is a few hundred octets. */
export const MAX_PDU_BYTES = 65_536

/** The value of `interface_version` for 3.4. */
export const INTERFACE_VERSION = 0x34

/** esm_class holds the message mode and type; bit 6 says that the body starts with a UDH. */
export const ESM_UDHI = 0x40
export const ESM_TYPE_MASK = 0x3c
export const ESM_DELIVERY_RECEIPT = 0x04
export const ESM_INTERMEDIATE_NOTIFICATION = 0x20

export const TLV = {
  receiptedMessageId: 0x001e,
  sarReference: 0x020c,
  sarTotal: 0x020e,
  sarNumber: 0x020f,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const

export type BindRequest = {
  systemId: string
  password: string
  systemType: string
  interfaceVersion: number
  addressTon: number
  addressNpi: number
  addressRange: string
}

/** Optional parameters by tag; the last of a repeated tag wins. */
export type Tlvs = ReadonlyMap<number, Buffer>

/** The common body of submit_sm, deliver_sm and data_sm. */
export type ShortMessage = {
  serviceType: string
  sourceTon: number
  sourceNpi: number
  source: string
  destTon: number
  destNpi: number
  dest: string
  esmClass: number
  registeredDelivery: number
  dataCoding: number
  /** Goes before `body`; announced by `ESM_UDHI`. Reading leaves it inside `body`. */
  udh: Buffer | null
  body: Buffer
}

/**
 * Collects PDUs in one buffer, so that all of one turn of the event loop go out
 * with one write. Text is written as Latin-1.
 */
export type PduWriter = {
  begin(command: number, status: number, sequence: number): void
  octet(value: number): void
  /** A C-octet string; a NUL inside would end it early, so callers check. */
  cstring(text: string): void
  octets(bytes: Buffer): void
  tlv(tag: number, value: Buffer): void
  /** Fills in the length of the PDU that was begun. */
  end(): void
  /** What was written since the last call; null when nothing was. */
  take(): Buffer | null
}

const CHUNK_BYTES = 65_536

export function createPduWriter(): PduWriter {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let taken = 0
  let start = 0
  let at = 0

  /** Makes room for `bytes` more, in a new buffer if need be; what was not taken yet is copied over. */
  function reserve(bytes: number): void {
    if (at + bytes <= chunk.length) return
    const held = at - taken
    const next = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, (held + bytes) * 2))
    chunk.copy(next, 0, taken, at)
    start -= taken
    chunk = next
    taken = 0
    at = held
  }

  function octet(value: number): void {
    reserve(1)
    chunk[at++] = value
  }

  function octets(bytes: Buffer): void {
    reserve(bytes.length)
    chunk.set(bytes, at)
    at += bytes.length
  }

  function integer(value: number): void {
    chunk[at] = value >>> 24
    chunk[at + 1] = value >>> 16
    chunk[at + 2] = value >>> 8
    chunk[at + 3] = value
    at += 4
  }

  return {
    begin(command, status, sequence) {
      reserve(HEADER_BYTES)
      start = at
      at += 4
      integer(command)
      integer(status)
      integer(sequence)
    },
    octet,
    cstring(text) {
      reserve(text.length + 1)
      // The strings here are short: a loop is quicker than a call out of JavaScript.
      for (let index = 0; index < text.length; index++) chunk[at++] = text.charCodeAt(index)
      chunk[at++] = 0
    },
    octets,
    tlv(tag, value) {
      reserve(4)
      chunk[at++] = tag >>> 8
      chunk[at++] = tag
      chunk[at++] = value.length >>> 8
      chunk[at++] = value.length
      octets(value)
    },
    end() {
      const end = at
      at = start
      integer(end - start)
      at = end
    },
    take() {
      if (at === taken) return null
      const bytes = chunk.subarray(taken, at)
      taken = at
      return bytes
    },
  }
}

/** A PDU that is a header alone: enquire_link, unbind, their responses, generic_nack, any refusal. */
export function writeHeaderOnly(out: PduWriter, command: number, status: number, sequence: number): void {
  out.begin(command, status, sequence)
  out.end()
}

export function writeBind(out: PduWriter, command: number, sequence: number, bind: BindRequest): void {
  out.begin(command, 0, sequence)
  out.cstring(bind.systemId)
  out.cstring(bind.password)
  out.cstring(bind.systemType)
  out.octet(bind.interfaceVersion)
  out.octet(bind.addressTon)
  out.octet(bind.addressNpi)
  out.cstring(bind.addressRange)
  out.end()
}

/** A response whose body is one C-octet string: of a bind (system_id), submit_sm, deliver_sm, data_sm (message_id). */
export function writeIdResponse(
  out: PduWriter,
  command: number,
  status: number,
  sequence: number,
  id: string,
): void {
  out.begin(command, status, sequence)
  out.cstring(id)
  out.end()
}

const NO_TLVS: Tlvs = new Map()

/** submit_sm or deliver_sm; the header and the body together are at most 254 octets. */
export function writeShortMessage(
  out: PduWriter,
  command: number,
  sequence: number,
  message: ShortMessage,
  tlvs: Tlvs = NO_TLVS,
): void {
  out.begin(command, 0, sequence)
  out.cstring(message.serviceType)
  out.octet(message.sourceTon)
  out.octet(message.sourceNpi)
  out.cstring(message.source)
  out.octet(message.destTon)
  out.octet(message.destNpi)
  out.cstring(message.dest)
  out.octet(message.esmClass)
  // protocol_id, priority_flag, schedule_delivery_time, validity_period: the SMSC's defaults.
  out.octet(0)
  out.octet(0)
  out.octet(0)
  out.octet(0)
  out.octet(message.registeredDelivery)
  // replace_if_present_flag.
  out.octet(0)
  out.octet(message.dataCoding)
  // sm_default_msg_id.
  out.octet(0)
  out.octet((message.udh?.length ?? 0) + message.body.length)
  if (message.udh) out.octets(message.udh)
  out.octets(message.body)
  for (const [tag, value] of tlvs) out.tlv(tag, value)
  out.end()
}
