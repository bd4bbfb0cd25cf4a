import { afterEach, describe, expect, it } from 'vitest'
import { readMessage } from '../../src/channels/smpp/inbound.ts'
import { TLV } from '../../src/channels/smpp/pdu.ts'
import type { Delivery } from '../../src/channels/smpp/session.ts'
import { openTestLink, type TestLink, type TestLinkOptions } from '../support/smpp-link.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

const SETTINGS = { defaultAlphabet: 'gsm7' } as const

function delivery(
  body: Buffer | string,
  more: Partial<Delivery['message']> = {},
  tlvs: [number, Buffer][] = [],
): Delivery {
  return {
    message: {
      serviceType: '',
      sourceTon: 1,
      sourceNpi: 1,
      source: '491701234567',
      destTon: 3,
      destNpi: 0,
      dest: '70123',
      esmClass: 0,
      registeredDelivery: 0,
      dataCoding: 0,
      udh: null,
      body: Buffer.from(body as string, 'latin1'),
      ...more,
    },
    tlvs: new Map(tlvs),
  }
}

const read = (each: Delivery) => readMessage(each, SETTINGS, () => 'spare')
const udh = (...octets: number[]) => Buffer.from([octets.length, ...octets])
const octet = (value: number) => Buffer.from([value])
const short = (value: number) => Buffer.from([value >> 8, value & 0xff])

describe('reading an inbound message', () => {
  it('returns all its fields', () => {
    expect(read(delivery('Hi'))).toEqual({
      kind: 'message',
      eventId: 'spare',
      channel: 'int_sms',
      from: '+491701234567',
      to: '70123',
      text: 'Hi',
      button: null,
      atMs: null,
    })
  })

  it.each([
    [1, '491701234567', '+491701234567'],
    [0, '491701234567', '+491701234567'],
    [0, '+491701234567', '+491701234567'],
    [0, '70123', '70123'],
    [1, '70123', '+70123'],
    [2, '01701234567', '01701234567'],
    [5, 'Acme Ltd', 'Acme Ltd'],
    [5, '', ''],
  ])('reads a sender of TON %i: %s', (sourceTon, source, from) => {
    expect(read(delivery('Hi', { sourceTon, source }))?.from).toBe(from)
  })

  it('decodes the text by its data_coding and the default alphabet', () => {
    expect(read(delivery(Buffer.from([0x00, 0x1b, 0x65]).toString('latin1')))?.text).toBe('@€')
    expect(read(delivery('caf\xe9', { dataCoding: 3 }))?.text).toBe('café')
    expect(read(delivery('\x04\x1f\x04', { dataCoding: 8 }))?.text).toBe('П')
    expect(read(delivery('\x04\x1f\x04', { dataCoding: 0x18 }))?.text).toBe('П')
    expect(read(delivery('\x01\x02', { dataCoding: 4 }))).toBeNull()
    for (const defaultAlphabet of ['latin1', 'ascii'] as const) {
      expect(readMessage(delivery('caf\xe9 @$_'), { defaultAlphabet }, () => '')?.text).toBe('café @$_')
    }
  })

  it.each([
    ['Turkish, single', [0x24, 1, 1], [0x1b, 0x49, 0x1b, 0x73, 0x1b, 0x65], 'İş€'],
    ['Turkish, locking', [0x25, 1, 1], [0x07, 0x40, 0x1c, 0x60, 0x04], 'ıİŞç€'],
    [
      'Turkish, single and locking, in a part of a message',
      [0, 3, 7, 2, 1, 0x24, 1, 1, 0x25, 1, 1],
      [0x0b, 0x1b, 0x67],
      'Ğğ',
    ],
    ['Spanish', [0x24, 1, 2], [0x1b, 0x61, 0x7d, 0x1b, 0x4f, 0x1b, 0x28], 'áñÓ{'],
    ['Spanish, locking, for which there is no table', [0x25, 1, 2], [0x7d, 0x05], 'ñé'],
    ['Portuguese, single', [0x24, 1, 3], [0x1b, 0x7b, 0x1b, 0x1f, 0x1b, 0x0e, 0x1b, 0x41], 'ãÊÁÀ'],
    ['Portuguese, locking', [0x25, 1, 3], [0x7b, 0x7c, 0x15, 0x40, 0x60], 'ãõ∞Í~'],
    ['a code that the table does not contain', [0x24, 1, 1], [0x1b, 0x42], 'B'],
    ['Hindi, single', [0x24, 1, 6], [0x41, 0x1b, 0x1c, 0x62], 'A\ufffdb'],
    ['Hindi, locking', [0x25, 1, 6], [0x01, 0x20, 0x31, 0x73, 0x1b, 0x65], '\ufffd 1s€'],
    ['a shift element without the language', [0x24, 0], [0x1b, 0x65], '€'],
  ])('decodes a national language: %s', (_, elements, octets, text) => {
    const body = Buffer.concat([udh(...elements), Buffer.from(octets)]).toString('latin1')
    expect(read(delivery(body, { esmClass: 0x40 }))?.text).toBe(text)
    expect(read(delivery(body, { esmClass: 0x40, dataCoding: 3 }))?.text).toBe(
      Buffer.from(octets).toString('latin1'),
    )
  })

  it('takes the text from message_payload and the event id from receipted_message_id', () => {
    const whole = delivery('', {}, [
      [TLV.messagePayload, Buffer.from('long')],
      [TLV.receiptedMessageId, Buffer.from('mo-1\0')],
    ])
    expect(read(whole)).toMatchObject({ text: 'long', eventId: 'mo-1' })
    expect(read(delivery('short', {}, [[TLV.messagePayload, Buffer.alloc(0)]]))).toMatchObject({
      text: 'short',
    })
  })

  it.each([
    ['a reference of one octet', udh(0, 3, 77, 3, 2), { reference: 77, total: 3, number: 2 }],
    ['a reference of two octets', udh(8, 4, 1, 2, 3, 1), { reference: 258, total: 3, number: 1 }],
    ['after another element', udh(5, 4, 0, 0, 0, 0, 0, 3, 9, 2, 1), { reference: 9, total: 2, number: 1 }],
    ['no element for a part', udh(5, 4, 0, 0, 0, 0), undefined],
    ['an element of the wrong length', udh(0, 2, 77, 3), undefined],
  ])('reads the part from the user data header: %s', (_, header, part) => {
    const message = delivery(Buffer.concat([header, Buffer.from('text')]).toString('latin1'), {
      esmClass: 0x40,
    })
    expect(read(message)).toMatchObject({ text: 'text' })
    expect(read(message)?.part).toEqual(part && { ...part, unnamed: true })
    const tlvs: [number, Buffer][] = [[TLV.receiptedMessageId, Buffer.from('mo-1\0')]]
    expect(read({ ...message, tlvs: new Map(tlvs) })?.part).toEqual(part)
  })

  it('reads the part from optional parameters', () => {
    const tlvs: [number, Buffer][] = [
      [TLV.sarReference, short(300)],
      [TLV.sarTotal, octet(2)],
      [TLV.sarNumber, octet(1)],
    ]
    expect(read(delivery('text', {}, tlvs))?.part).toEqual({
      reference: 300,
      total: 2,
      number: 1,
      unnamed: true,
    })
    expect(read(delivery('text', {}, tlvs.slice(1)))?.part).toBeUndefined()
  })

  it('reads all of it as text when the header would be longer than the message', () => {
    expect(read(delivery('Pab', { esmClass: 0x40 }))?.text).toBe('Pab')
    expect(read(delivery('', { esmClass: 0x40 }))?.text).toBe('')
  })
})

describe('an inbound message over a connection', () => {
  const opened: { smsc: Smsc; test: TestLink }[] = []

  async function open(options: TestLinkOptions = {}) {
    const smsc = await startSmsc()
    const test = await openTestLink(smsc.port, options)
    opened.push({ smsc, test })
    await test.state('up')
    return { smsc, test }
  }

  afterEach(async () => {
    for (const { smsc, test } of opened.splice(0)) {
      await test.link.close()
      await smsc.close()
    }
  })

  const FIELDS = {
    source_addr: '491701234567',
    source_addr_ton: 1,
    destination_addr: '70123',
    short_message: 'Hello',
  }

  it('is acknowledged only after it is stored', async () => {
    const stored = Promise.withResolvers<void>()
    const { smsc, test } = await open({ emit: () => stored.promise })
    smsc.deliver(FIELDS)
    await test.emitted(1)
    expect(smsc.acknowledgements).toEqual([])
    stored.resolve()
    await smsc.acknowledged(1)
    expect(smsc.acknowledgements).toEqual([0])
    expect(test.inbound).toMatchObject([
      { kind: 'message', from: '+491701234567', to: '70123', text: 'Hello' },
    ])
  })

  it('that is being stored when the link closes is acknowledged before the unbind', async () => {
    const stored = Promise.withResolvers<void>()
    const { smsc, test } = await open({ emit: () => stored.promise })
    smsc.deliver(FIELDS)
    await test.emitted(1)
    const closed = test.link.close()
    smsc.send('enquire_link')
    // An unbind that did not wait would be here by now.
    await Promise.race([smsc.commanded('enquire_link_resp'), smsc.commanded('unbind')])
    stored.resolve()
    await closed
    await smsc.idle()
    expect(smsc.commands.slice(1)).toEqual(['enquire_link_resp', 'deliver_sm_resp', 'unbind'])
    expect(smsc.acknowledgements).toEqual([0])
  })

  it('that is being stored when the SMSC unbinds is acknowledged before the unbind', async () => {
    const stored = Promise.withResolvers<void>()
    const { smsc, test } = await open({ emit: () => stored.promise })
    smsc.deliver(FIELDS)
    await test.emitted(1)
    smsc.send('unbind')
    smsc.send('enquire_link')
    await Promise.race([smsc.commanded('enquire_link_resp'), smsc.commanded('unbind_resp')])
    stored.resolve()
    await smsc.commanded('unbind_resp')
    expect(smsc.commands.slice(1, 4)).toEqual(['enquire_link_resp', 'deliver_sm_resp', 'unbind_resp'])
  })

  it('that cannot be stored is refused temporarily, so that the SMSC sends it again', async () => {
    const { smsc } = await open({ emit: () => Promise.reject(new Error('no database')) })
    smsc.deliver(FIELDS)
    await smsc.acknowledged(1)
    expect(smsc.acknowledgements).toEqual([0x08])
  })

  it('that is not text is acknowledged and dropped with a warning', async () => {
    const { smsc, test } = await open()
    smsc.deliver({ ...FIELDS, data_coding: 4, short_message: Buffer.from([1, 2]) })
    await smsc.acknowledged(1)
    expect([test.inbound, test.warnings]).toEqual([
      [],
      ['smpp: an inbound message that is not text was acknowledged and dropped'],
    ])
  })
})
