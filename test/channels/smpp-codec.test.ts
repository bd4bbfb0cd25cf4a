import fc from 'fast-check'
import smpp, { type PDU } from 'smpp'
import { describe, expect, it } from 'vitest'
import {
  COMMAND,
  createPduWriter,
  type PduWriter,
  responseTo,
  writeBind,
  writeHeaderOnly,
  writeIdResponse,
  writeShortMessage,
} from '../../src/channels/smpp/pdu.ts'
import { createFramer, type Pdu, readPdu } from '../../src/channels/smpp/pdu-read.ts'

/** The `smpp` package is the reference: each side must read what the other one writes. */

const sequence = fc.integer({ min: 1, max: 0x7fffffff })
const octet = fc.integer({ min: 0, max: 255 })
const status = fc.constantFrom(0, 1, 0x0b, 0x58, 0x400, 0xffffffff)
const cstring = (maxLength: number) =>
  fc.array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength }).map(codes => String.fromCharCode(...codes))

const bindRequest = fc.record({
  systemId: cstring(15),
  password: cstring(8),
  systemType: cstring(12),
  interfaceVersion: octet,
  addressTon: octet,
  addressNpi: octet,
  addressRange: cstring(40),
})

const shortMessage = fc.record({
  serviceType: cstring(5),
  sourceTon: octet,
  sourceNpi: octet,
  source: cstring(20),
  destTon: octet,
  destNpi: octet,
  dest: cstring(20),
  // Without UDHI, with which the package splits a header off the body; a separate test covers that.
  esmClass: fc.constantFrom(0, 4, 8, 0x20),
  registeredDelivery: octet,
  // 4 is binary: the package does not decode the octets.
  dataCoding: fc.constant(4),
  udh: fc.constant(null),
  body: fc.uint8Array({ maxLength: 254 }).map(bytes => Buffer.from(bytes)),
})

const tlvs = fc.record({
  receipted_message_id: cstring(64),
  message_state: fc.integer({ min: 1, max: 8 }),
  network_error_code: fc.uint8Array({ minLength: 3, maxLength: 3 }).map(bytes => Buffer.from(bytes)),
})

const BINDS = [
  ['bind_receiver', COMMAND.bindReceiver],
  ['bind_transmitter', COMMAND.bindTransmitter],
  ['bind_transceiver', COMMAND.bindTransceiver],
] as const
const MESSAGES = [
  ['submit_sm', COMMAND.submitSm],
  ['deliver_sm', COMMAND.deliverSm],
] as const
const HEADERS = [
  ['enquire_link', COMMAND.enquireLink],
  ['enquire_link_resp', responseTo(COMMAND.enquireLink)],
  ['unbind', COMMAND.unbind],
  ['unbind_resp', responseTo(COMMAND.unbind)],
  ['generic_nack', COMMAND.genericNack],
] as const

function written(write: (out: PduWriter) => void): Buffer {
  const out = createPduWriter()
  write(out)
  return out.take()!
}

/** Reads bytes, which must be exactly one PDU, with the package. */
function readByPackage(bytes: Buffer): PDU {
  expect(bytes.readUInt32BE(0)).toBe(bytes.length)
  return smpp.PDU.fromBuffer(bytes)
}

describe('PDUs of our writer, read by the smpp package', () => {
  it.each(BINDS)('%s', (name, command) => {
    fc.assert(
      fc.property(bindRequest, sequence, (bind, number) => {
        expect(readByPackage(written(out => writeBind(out, command, number, bind)))).toMatchObject({
          command: name,
          command_status: 0,
          sequence_number: number,
          system_id: bind.systemId,
          password: bind.password,
          system_type: bind.systemType,
          interface_version: bind.interfaceVersion,
          addr_ton: bind.addressTon,
          addr_npi: bind.addressNpi,
          address_range: bind.addressRange,
        })
      }),
    )
  })

  it.each(BINDS)('%s_resp', (name, command) => {
    fc.assert(
      fc.property(cstring(15), sequence, (id, number) => {
        const bytes = written(out => writeIdResponse(out, responseTo(command), 0, number, id))
        expect(readByPackage(bytes)).toMatchObject({
          command: `${name}_resp`,
          sequence_number: number,
          system_id: id,
        })
      }),
    )
  })

  it.each(MESSAGES)('%s', (name, command) => {
    fc.assert(
      fc.property(shortMessage, sequence, (message, number) => {
        const pdu = readByPackage(written(out => writeShortMessage(out, command, number, message)))
        expect(pdu).toMatchObject({
          command: name,
          sequence_number: number,
          service_type: message.serviceType,
          source_addr_ton: message.sourceTon,
          source_addr_npi: message.sourceNpi,
          source_addr: message.source,
          dest_addr_ton: message.destTon,
          dest_addr_npi: message.destNpi,
          destination_addr: message.dest,
          esm_class: message.esmClass,
          registered_delivery: message.registeredDelivery,
          data_coding: message.dataCoding,
        })
        expect((pdu.short_message as { message: Buffer }).message).toEqual(message.body)
      }),
    )
  })

  it.each(MESSAGES)('%s_resp with and without an error status', (name, command) => {
    fc.assert(
      fc.property(cstring(64), status, sequence, (id, code, number) => {
        const bytes = written(out => writeIdResponse(out, responseTo(command), code, number, id))
        expect(readByPackage(bytes)).toMatchObject({
          command: `${name}_resp`,
          command_status: code,
          sequence_number: number,
          message_id: id,
        })
      }),
    )
  })

  it.each(HEADERS)('%s', (name, command) => {
    fc.assert(
      fc.property(status, sequence, (code, number) => {
        const bytes = written(out => writeHeaderOnly(out, command, code, number))
        expect(readByPackage(bytes)).toMatchObject({
          command: name,
          command_status: code,
          sequence_number: number,
        })
      }),
    )
  })

  it('a message whose concatenation header is separate from the text', () => {
    const pdu = readByPackage(
      written(out =>
        writeShortMessage(out, COMMAND.submitSm, 1, {
          ...fc.sample(shortMessage, 1)[0]!,
          esmClass: 0x40,
          dataCoding: 0,
          udh: Buffer.from([5, 0, 3, 9, 2, 1]),
          body: Buffer.from('hello'),
        }),
      ),
    )
    expect(pdu.short_message).toEqual({ udh: [Buffer.from([0, 3, 9, 2, 1])], message: 'hello' })
  })
})

describe('PDUs of the smpp package, read by our reader', () => {
  const readFromPackage = (command: string, fields: Record<string, unknown>): Pdu =>
    readPdu(new smpp.PDU(command, fields).toBuffer())

  it.each(BINDS)('%s', (name, command) => {
    fc.assert(
      fc.property(bindRequest, sequence, (bind, number) => {
        const pdu = readFromPackage(name, {
          sequence_number: number,
          system_id: bind.systemId,
          password: bind.password,
          system_type: bind.systemType,
          interface_version: bind.interfaceVersion,
          addr_ton: bind.addressTon,
          addr_npi: bind.addressNpi,
          address_range: bind.addressRange,
        })
        expect(pdu).toEqual({ kind: 'bind', command, status: 0, sequence: number, bind })
      }),
    )
  })

  it.each(BINDS)('%s_resp with and without an error status', (name, command) => {
    fc.assert(
      fc.property(cstring(15), status, sequence, (id, code, number) => {
        const pdu = readFromPackage(`${name}_resp`, {
          command_status: code,
          sequence_number: number,
          system_id: id,
        })
        // The package omits the body of a response with an error status.
        expect(pdu).toEqual({
          kind: 'bind_resp',
          command: responseTo(command),
          status: code,
          sequence: number,
          systemId: code === 0 ? id : '',
        })
      }),
    )
  })

  it.each(MESSAGES)('%s with optional parameters', (name, command) => {
    fc.assert(
      fc.property(shortMessage, tlvs, sequence, (message, optional, number) => {
        const pdu = readFromPackage(name, {
          sequence_number: number,
          service_type: message.serviceType,
          source_addr_ton: message.sourceTon,
          source_addr_npi: message.sourceNpi,
          source_addr: message.source,
          dest_addr_ton: message.destTon,
          dest_addr_npi: message.destNpi,
          destination_addr: message.dest,
          esm_class: message.esmClass,
          registered_delivery: message.registeredDelivery,
          data_coding: message.dataCoding,
          short_message: message.body,
          ...optional,
        })
        expect(pdu).toEqual({
          kind: 'message',
          command,
          status: 0,
          sequence: number,
          message,
          tlvs: new Map<number, Buffer>([
            [0x001e, Buffer.from(`${optional.receipted_message_id}\0`)],
            [0x0427, Buffer.from([optional.message_state])],
            [0x0423, optional.network_error_code],
          ]),
        })
      }),
    )
  })

  it('data_sm with its text in message_payload', () => {
    const pdu = readFromPackage('data_sm', {
      source_addr: '1',
      destination_addr: '2',
      esm_class: 4,
      message_payload: Buffer.from('hi'),
    })
    expect(pdu).toMatchObject({
      kind: 'message',
      command: COMMAND.dataSm,
      message: { source: '1', dest: '2', esmClass: 4 },
    })
    expect(pdu.kind === 'message' && pdu.tlvs.get(0x0424)).toEqual(Buffer.from('hi'))
  })

  it.each(MESSAGES)('%s_resp with and without an error status', (name, command) => {
    fc.assert(
      fc.property(cstring(64), status, sequence, (id, code, number) => {
        const pdu = readFromPackage(`${name}_resp`, {
          command_status: code,
          sequence_number: number,
          message_id: id,
        })
        expect(pdu).toEqual({
          kind: 'message_resp',
          command: responseTo(command),
          status: code,
          sequence: number,
          messageId: code === 0 ? id : '',
        })
      }),
    )
  })

  it.each(HEADERS)('%s', (name, command) => {
    expect(readFromPackage(name, { sequence_number: 5 })).toEqual({
      kind: 'header',
      command,
      status: 0,
      sequence: 5,
    })
  })
})

describe('invalid PDUs', () => {
  it('with a truncated body are malformed', () => {
    fc.assert(
      fc.property(shortMessage, fc.integer({ min: 1, max: 300 }), (message, cut) => {
        const whole = written(out => writeShortMessage(out, COMMAND.deliverSm, 1, message))
        const frame = whole.subarray(0, Math.max(16, whole.length - cut))
        expect(readPdu(frame).kind).toBe('malformed')
      }),
    )
  })

  it('of arbitrary bytes never make the reader throw', () => {
    const command = fc.oneof(
      fc.constantFrom(...Object.values(COMMAND)),
      fc.integer({ min: 0, max: 0xffffffff }),
    )
    fc.assert(
      fc.property(command, fc.boolean(), fc.uint8Array({ maxLength: 400 }), (id, response, body) => {
        const frame = Buffer.concat([Buffer.alloc(16), body])
        frame.writeUInt32BE(frame.length, 0)
        frame.writeUInt32BE(response ? responseTo(id) : id, 4)
        expect(readPdu(frame).sequence).toBe(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('that are responses with an error status are read without a body, or with a broken one', () => {
    const refused = (body: string) => {
      const frame = Buffer.concat([Buffer.alloc(16), Buffer.from(body)])
      frame.writeUInt32BE(responseTo(COMMAND.submitSm), 4)
      frame.writeUInt32BE(0x58, 8)
      return readPdu(frame)
    }
    expect(refused('')).toMatchObject({ kind: 'message_resp', status: 0x58, messageId: '' })
    expect(refused('no end')).toMatchObject({ kind: 'message_resp', status: 0x58, messageId: '' })
  })
})

describe('the framer', () => {
  it('finds the same PDUs however the stream is split into chunks', () => {
    const stream = fc.array(shortMessage, { minLength: 1, maxLength: 8 })
    const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(stream, cuts, (messages, sizes) => {
        const whole = written(out => {
          for (const [index, message] of messages.entries())
            writeShortMessage(out, COMMAND.submitSm, index + 1, message)
        })
        const found: Buffer[] = []
        const framer = createFramer()
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const chunk = whole.subarray(at, at + sizes[turn % sizes.length]!)
          // A copy, because a socket may reuse the memory of its chunks.
          expect(framer.feed(Buffer.from(chunk), frame => found.push(Buffer.from(frame)) > 0)).toBe(true)
          at += chunk.length
        }
        expect(Buffer.concat(found)).toEqual(whole)
        expect(found).toHaveLength(messages.length)
      }),
    )
  })

  it.each([0, 15, 65_537, 0x48545450])('rejects a PDU length of %i', length => {
    const header = Buffer.alloc(16)
    header.writeUInt32BE(length, 0)
    for (const size of [1, 3, 16]) {
      const framer = createFramer()
      const results: boolean[] = []
      for (let at = 0; at < 16 && results.at(-1) !== false; at += size) {
        results.push(framer.feed(header.subarray(at, at + size), () => true))
      }
      expect(results.at(-1)).toBe(false)
    }
  })

  it('accepts the longest PDU octet by octet', () => {
    const longest = Buffer.alloc(65_536)
    longest.writeUInt32BE(longest.length, 0)
    const found: number[] = []
    const framer = createFramer()
    for (const byte of longest) framer.feed(Buffer.from([byte]), frame => found.push(frame.length) > 0)
    expect(found).toEqual([65_536])
  })

  it('stops when its callback returns false', () => {
    const two = written(out => {
      writeHeaderOnly(out, COMMAND.enquireLink, 0, 1)
      writeHeaderOnly(out, COMMAND.enquireLink, 0, 2)
    })
    let taken = 0
    expect(createFramer().feed(two, () => ++taken < 1)).toBe(false)
    expect(taken).toBe(1)
  })
})

describe('the writer', () => {
  it('writes many PDUs intact and in order', () => {
    const out = createPduWriter()
    const framer = createFramer()
    const sequences: number[] = []
    const message = { ...fc.sample(shortMessage, 1)[0]!, body: Buffer.alloc(200, 7) }
    for (let number = 1; number <= 2000; number++) {
      writeShortMessage(out, COMMAND.submitSm, number, message)
      if (number % 700 === 0 || number === 2000) {
        framer.feed(out.take()!, frame => {
          const pdu = readPdu(frame)
          expect(pdu.kind === 'message' && pdu.message.body).toEqual(message.body)
          return sequences.push(pdu.sequence) > 0
        })
      }
    }
    expect(sequences).toEqual(Array.from({ length: 2000 }, (_, index) => index + 1))
    expect(out.take()).toBeNull()
  })
})
