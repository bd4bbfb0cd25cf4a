import { afterEach, describe, expect, it } from 'vitest'
import { TLV } from '../../src/channels/smpp/pdu.ts'
import { createReceiptIds } from '../../src/channels/smpp/receipt-ids.ts'
import { isReceipt, readReceipt } from '../../src/channels/smpp/receipts.ts'
import type { Delivery } from '../../src/channels/smpp/session.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { receiptsOf } from '../support/inbound.ts'
import { never, openTestLink, sms, type TestLink, type TestLinkOptions } from '../support/smpp-link.ts'
import { type Answer, type Smsc, type SmscBehaviour, startSmsc } from '../support/smsc.ts'

const opened: { smsc: Smsc; test: TestLink }[] = []

async function open(behaviour: SmscBehaviour | Answer = 'accept', options: TestLinkOptions = {}) {
  const smsc = await startSmsc(behaviour)
  const test = await openTestLink(smsc.port, options)
  opened.push({ smsc, test })
  await test.state('up')
  return { smsc, test, link: test.link }
}

afterEach(async () => {
  for (const { smsc, test } of opened.splice(0)) {
    await test.link.close()
    await smsc.close()
  }
})

function delivery(
  text: string,
  tlvs: [number, Buffer][] = [],
  more: Partial<Delivery['message']> = {},
): Delivery {
  return {
    message: {
      serviceType: '',
      sourceTon: 1,
      sourceNpi: 1,
      source: '491701234567',
      destTon: 5,
      destNpi: 0,
      dest: 'Posthorn',
      esmClass: 4,
      registeredDelivery: 0,
      dataCoding: 0,
      udh: null,
      body: Buffer.from(text, 'latin1'),
      ...more,
    },
    tlvs: new Map(tlvs),
  }
}

const id = (text: string): [number, Buffer] => [TLV.receiptedMessageId, Buffer.from(text)]
const state = (value: number): [number, Buffer] => [TLV.messageState, Buffer.from([value])]

const TEXT =
  'id:0123456789 sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:DELIVRD err:000 text:Hello'

describe('reading a receipt', () => {
  it('finds id and state in the text', () => {
    expect(readReceipt(delivery(TEXT))).toEqual({
      id: '0123456789',
      exact: false,
      status: 'delivered',
      atMs: null,
      providerCode: null,
      detail: null,
    })
  })

  it('returns null when the id is empty, and does not take the next field for the id', () => {
    for (const next of [
      'sub:001',
      'dlvrd:001',
      'Submit date:2601011200',
      'done date:2601011200',
      'err:000',
    ]) {
      expect(readReceipt(delivery(`id: ${next} stat:DELIVRD`))).toBeNull()
    }
    expect(readReceipt(delivery('id: stat:DELIVRD'))).toBeNull()
    expect(readReceipt(delivery('id: sub-1 sub:001 stat:DELIVRD'))).toMatchObject({ id: 'sub-1' })
  })

  it('prefers the optional parameters to the text', () => {
    const read = readReceipt(delivery(TEXT, [id('abc\0'), state(5)]))
    expect(read).toMatchObject({ id: 'abc', exact: true, status: 'undelivered', detail: 'UNDELIV' })
    expect(readReceipt(delivery('', [id('without an end'), state(2)]))).toMatchObject({
      id: 'without an end',
    })
  })

  it.each([
    ['ENROUTE', 'sent'],
    ['ACCEPTD', 'sent'],
    ['UNKNOWN', 'sent'],
    ['DELIVRD', 'delivered'],
    ['UNDELIV', 'undelivered'],
    ['EXPIRED', 'undelivered'],
    ['DELETED', 'undelivered'],
    ['REJECTD', 'undelivered'],
    ['delivrd', 'delivered'],
    ['UNDELIVERABLE', 'undelivered'],
  ])('maps the state %s to %s', (word, status) => {
    expect(readReceipt(delivery(`id:1 stat:${word} err:000`))).toMatchObject({ status })
  })

  it.each([
    [1, 'sent'],
    [2, 'delivered'],
    [3, 'undelivered'],
    [4, 'undelivered'],
    [5, 'undelivered'],
    [6, 'sent'],
    [7, 'sent'],
    [8, 'undelivered'],
  ])('maps the message_state %i to %s', (value, status) => {
    expect(readReceipt(delivery('', [id('1'), state(value)]))).toMatchObject({ status })
  })

  it('reads an intermediate notification as sent unless its state is delivered', () => {
    const soFar = { esmClass: 0x20 }
    const stored = delivery('id:1 stat:UNDELIV err:027', [], soFar)
    expect(isReceipt(stored)).toBe(true)
    expect(readReceipt(stored)).toMatchObject({
      id: '1',
      status: 'sent',
      detail: 'UNDELIV',
      providerCode: '027',
    })
    expect(readReceipt(delivery('', [id('1'), state(5)], soFar))).toMatchObject({ status: 'sent' })
    expect(readReceipt(delivery('id:1 stat:DELIVRD err:000', [], soFar))).toMatchObject({
      status: 'delivered',
    })
  })

  it('keeps the error code of the text or of network_error_code', () => {
    expect(readReceipt(delivery('id:1 stat:UNDELIV err:045'))).toMatchObject({ providerCode: '045' })
    const network: [number, Buffer] = [TLV.networkErrorCode, Buffer.from([3, 1, 4])]
    expect(readReceipt(delivery('', [id('1'), state(5), network]))).toMatchObject({ providerCode: '3:260' })
  })

  it.each([
    ['DELIVERED', 'delivered'],
    ['Accepted', 'sent'],
    ['REJECTED', 'undelivered'],
    ['UNDELIVERABLE', 'undelivered'],
    ['FAILED', 'undelivered'],
  ])('accepts the spelled-out state %s', (word, status) => {
    expect(readReceipt(delivery(`id:1 stat:${word} err:000`))).toMatchObject({ id: '1', status })
  })

  it('accepts commas or semicolons between the fields', () => {
    for (const between of [', ', ';']) {
      const text = ['id:1', 'sub:001', 'stat:UNDELIV', 'err:045', 'text:'].join(between)
      expect(readReceipt(delivery(text))).toMatchObject({
        id: '1',
        status: 'undelivered',
        providerCode: '045',
      })
    }
  })

  it('accepts an empty message_payload, and a user data header before the text', () => {
    expect(readReceipt(delivery('id:1 stat:DELIVRD', [[TLV.messagePayload, Buffer.alloc(0)]]))).toMatchObject(
      {
        id: '1',
      },
    )
    const headed = { esmClass: 0x44, body: Buffer.from('\x05\0\x03A\x01Aid:2 stat:DELIVRD') }
    expect(readReceipt(delivery('', [], headed))).toMatchObject({ id: '2' })
    expect(readReceipt(delivery('id:3 stat:DELIVRD', [], { esmClass: 0x44 }))).toMatchObject({ id: '3' })
  })

  it('reads the text as octets although its data_coding says UCS-2', () => {
    expect(readReceipt(delivery(`${TEXT}\0`, [], { dataCoding: 8 }))).toMatchObject({
      id: '0123456789',
      status: 'delivered',
    })
  })

  it('accepts an id of 200 characters', () => {
    const long = 'a1'.repeat(100)
    expect(readReceipt(delivery(`id:${long} stat:DELIVRD`))).toMatchObject({ id: long })
  })

  it('ignores a NUL at the end of a field or of the text', () => {
    expect(readReceipt(delivery('id:1\0 stat:DELIVRD err:000\0'))).toMatchObject({
      id: '1',
      providerCode: null,
    })
    expect(readReceipt(delivery('stat:UNDELIV err:045 id:1\0'))).toMatchObject({
      id: '1',
      providerCode: '045',
    })
  })

  it('reads a text in UCS-2, and one in message_payload', () => {
    const ucs2 = Buffer.from('id:7 stat:DELIVRD', 'utf16le').swap16()
    expect(readReceipt(delivery('', [], { dataCoding: 8, body: ucs2 }))).toMatchObject({ id: '7' })
    const payload: [number, Buffer] = [TLV.messagePayload, Buffer.from('id:8 stat:DELIVRD')]
    expect(readReceipt(delivery('', [payload]))).toMatchObject({ id: '8' })
  })

  it('ignores fields in the quoted message', () => {
    expect(readReceipt(delivery('id:1 stat:UNDELIV text:id:2 stat:DELIVRD err:099'))).toMatchObject({
      id: '1',
      status: 'undelivered',
      providerCode: null,
    })
    expect(readReceipt(delivery('text:id:2 stat:DELIVRD'))).toBeNull()
  })

  it.each(['', 'stat:DELIVRD', 'id:1', 'id:1 stat:SOMETHING', 'garbage'])(
    'returns null for the text %j',
    text => {
      expect(readReceipt(delivery(text))).toBeNull()
    },
  )

  it('distinguishes receipts from inbound messages by esm_class or optional parameters', () => {
    expect(isReceipt(delivery(TEXT, [], { esmClass: 0 }))).toBe(false)
    expect(isReceipt(delivery('', [], { esmClass: 0x20 }))).toBe(true)
    expect(isReceipt(delivery('', [id('1'), state(2)], { esmClass: 0 }))).toBe(true)
    // UDHI and the receipt bit together.
    expect(isReceipt(delivery('', [], { esmClass: 0x44 }))).toBe(true)
  })
})

describe('the id of a receipt', () => {
  const read = (text: string, exact = false) => ({
    id: text,
    exact,
    status: 'delivered' as const,
    atMs: null,
    providerCode: null,
    detail: null,
  })

  it.each([
    ['same', '00ff', '00ff'],
    ['hex-to-dec', '00ff', '255'],
    ['dec-to-hex', '255', 'ff'],
    ['dec-to-hex', 'no number', 'no number'],
  ] as const)('in the format %s: %s becomes %s', (format, given, expected) => {
    const ids = createReceiptIds(format)
    expect(ids.resolve(read(given))).toBe(expected)
    expect(ids.resolve(read(given, true))).toBe(given)
  })

  const idsBy = (format: Parameters<typeof createReceiptIds>[0], ...submitted: string[]) => {
    const ids = createReceiptIds(format)
    for (const one of submitted) ids.recordSubmitted(one)
    return ids
  }

  const auto = (...submitted: string[]) => idsBy('auto', ...submitted)

  it.each([
    ['dec-to-hex', '00000A10', '2576', '00000A10'],
    ['dec-to-hex', '00000A10', '16', '00000010'],
    ['dec-to-hex', '0A10', 'a10', '0A10'],
    ['hex-to-dec', '0000002576', 'A10', '0000002576'],
    ['hex-to-dec', '0000002576', '0a11', '0000002577'],
  ] as const)(
    'in the format %s is spelled like the submitted id %s: %s becomes %s',
    (format, submitted, given, expected) => {
      expect(idsBy(format, submitted).resolve(read(given))).toBe(expected)
    },
  )

  it.each([
    ['dec-to-hex', '0000A1B2', '41395', '0000A1B3'],
    ['hex-to-dec', '0000041394', 'A1B3', '0000041395'],
  ] as const)(
    'in the format %s is spelled like the earlier id %s before the first submit: %s becomes %s',
    (format, earlier, given, expected) => {
      const ids = createReceiptIds(format)
      ids.recordEarlier(['unnamed-1', earlier])
      expect(ids.resolve(read(given))).toBe(expected)
    },
  )

  it('is spelled like the submitted ids even if earlier ones are spelled differently', () => {
    const ids = idsBy('dec-to-hex', 'a1b2')
    ids.recordEarlier(['0000A1B1'])
    expect(ids.resolve(read('41395'))).toBe('a1b3')
    expect(ids.resolve(read('41393'))).toBe('0000A1B1')
  })

  it('in the format dec-to-hex is converted even if a submitted id equals it unconverted', () => {
    expect(idsBy('dec-to-hex', '16', '1F').resolve(read('16'))).toBe('10')
  })

  it('has the letter case of earlier submitted ids when the last one has no letters', () => {
    expect(idsBy('dec-to-hex', '00000A0F', '00000A10', '00000010').resolve(read('2815'))).toBe('00000AFF')
  })

  it.each([
    ['unchanged', '7F3A21', '7F3A21', '7F3A21'],
    ['unchanged when it is not a number', 'a-b-c', 'a-b-c', 'a-b-c'],
    ['from decimal to the hexadecimal id of the submit', '0000002AF0', '10992', '0000002AF0'],
    ['from hexadecimal to the decimal id of the submit', '10992', '2af0', '10992'],
    ['to an id with other leading zeros and letter case', '00002AF0', '2af0', '00002AF0'],
    ['unchanged when no submitted id matches it', '99', '1234567', '1234567'],
  ])('is resolved %s', (_name, submitted, given, expected) => {
    expect(auto(submitted).resolve(read(given))).toBe(expected)
  })

  it('is matched from decimal to hexadecimal among small sequential ids', () => {
    const ids = auto(...Array.from({ length: 300 }, (_, index) => (index + 1).toString(16)))
    for (let number = 1; number <= 300; number++) {
      expect(ids.resolve(read(String(number)))).toBe(number.toString(16))
    }
  })

  it('is matched unconverted among small sequential ids that have the same base on both sides', () => {
    const decimal = auto(...Array.from({ length: 300 }, (_, index) => String(index + 1)))
    const hexadecimal = auto(...Array.from({ length: 300 }, (_, index) => (index + 1).toString(16)))
    for (let number = 300; number >= 1; number--) {
      expect(decimal.resolve(read(String(number)))).toBe(String(number))
      // The letter of the first id read, 12c, shows that receipts are in hexadecimal too.
      const hex = number.toString(16)
      expect(hexadecimal.resolve(read(hex))).toBe(hex)
    }
  })

  it('is not converted to the id of another message without evidence for the conversion', () => {
    // 100 was submitted before a restart and is not remembered; 256 is 100 read as hexadecimal.
    const ids = auto('255', '256', '1000')
    expect(ids.resolve(read('100'))).toBe('100')
    expect(ids.resolve(read('4096'))).toBe('4096')
  })

  it('is converted like earlier ids when its submit is not remembered', () => {
    const ids = auto('0000002AF0')
    ids.resolve(read('10992'))
    expect(ids.resolve(read('10993'))).toBe('0000002AF1')
  })

  it('in receipted_message_id is not converted, and is no evidence for the base of ids in texts', () => {
    const ids = auto('10', 'A0F', '00007')
    expect(ids.resolve(read('10', true))).toBe('10')
    expect(ids.resolve(read('16', true))).toBe('16')
    expect(['a0f', '7', '007'].map(id => ids.resolve(read(id, true)))).toEqual(['A0F', '00007', '00007'])
    expect(ids.resolve(read('2575'))).toBe('A0F')
  })

  it('in receipted_message_id is converted if it matches a submitted id only so, and then also without a match', () => {
    const ids = idsBy('dec-to-hex', '0000A1B2', '0000A1B3')
    expect(ids.resolve(read('41390', true))).toBe('41390')
    expect(ids.resolve(read('41394', true))).toBe('0000A1B2')
    expect(ids.resolve(read('41390', true))).toBe('0000A1AE')
    expect(ids.resolve(read('A1B3', true))).toBe('0000A1B3')
  })

  it('in receipted_message_id is not converted once one has matched a submitted id unconverted', () => {
    const ids = idsBy('dec-to-hex', '0000A1B2', '0000A1B3')
    expect(ids.resolve(read('A1B3', true))).toBe('0000A1B3')
    expect(ids.resolve(read('41394', true))).toBe('41394')
    expect(ids.resolve(read('41394'))).toBe('0000A1B2')
  })

  it('is matched to the latest of 100,000 submitted ids', () => {
    const ids = createReceiptIds('auto')
    for (let number = 1_000_000; number < 1_100_000; number++) ids.recordSubmitted(number.toString(16))
    expect(ids.resolve(read('1099999'))).toBe((1_099_999).toString(16))
  })

  it('is matched to the latest 20,000 submitted ids, and to none before the latest 40,000', () => {
    const ids = auto('00A1')
    const submit = (from: number, to: number) => {
      for (let number = from; number < to; number++) ids.recordSubmitted(String(1_000_000 + number))
    }
    // An exact id gets the spelling of the submitted id that it matches.
    const spelled = () => ids.resolve(read('a1', true))
    submit(0, 19_999)
    expect(spelled()).toBe('00A1')
    submit(19_999, 40_000)
    expect(spelled()).toBe('a1')
  })
})

describe('receipts over a connection', () => {
  it('are acknowledged only after they are stored', async () => {
    let store: () => void = () => {}
    const { smsc, test } = await open('accept', {
      emit: () =>
        new Promise(resolve => {
          store = resolve
        }),
    })
    smsc.deliver({ esm_class: 4, short_message: 'id:x stat:DELIVRD err:000' })
    await test.emitted(1)
    // An acknowledgement written before this response would have arrived before it.
    smsc.send('enquire_link')
    await smsc.commanded('enquire_link_resp')
    expect(smsc.acknowledgements).toEqual([])
    store()
    await smsc.acknowledged(1)
    expect(smsc.acknowledgements).toEqual([0])
    expect(test.inbound).toMatchObject([{ kind: 'receipt', providerId: 'x', status: 'delivered' }])
  })

  it('that cannot be stored are refused temporarily, and accepted when they are sent again', async () => {
    const { smsc, test } = await open('accept', {
      emit: (_inbound, nth) =>
        nth === 1 ? Promise.reject(new Error('the store is gone')) : Promise.resolve(),
    })
    const fields = { esm_class: 4, receipted_message_id: 'x', message_state: 2 }
    smsc.deliver(fields)
    await smsc.acknowledged(1)
    smsc.deliver(fields)
    await smsc.acknowledged(2)
    expect(smsc.acknowledgements).toEqual([0x08, 0])
    expect(test.inbound).toHaveLength(2)
  })

  it('are spelled like the ids of an earlier process before the first submit, which are read once', async () => {
    let reads = 0
    const { smsc, test } = await open('accept', {
      config: { receiptIdFormat: 'dec-to-hex' },
      earlierIds: async () => {
        reads++
        return ['0000A1B4', '0000A1B2,0000A1B3']
      },
    })
    smsc.deliver({ esm_class: 4, short_message: 'id:41394 stat:DELIVRD err:000' })
    smsc.deliver({ esm_class: 4, short_message: 'id:41390 stat:DELIVRD err:000' })
    await smsc.acknowledged(2)
    smsc.deliver({ esm_class: 4, short_message: 'id:41391 stat:DELIVRD err:000' })
    await smsc.acknowledged(3)
    const named = receiptsOf(test.inbound).map(({ providerId }) => providerId)
    expect(named).toEqual(['0000A1B2', '0000A1AE', '0000A1AF'])
    expect(reads).toBe(1)
  })

  describe('that are marked neither by esm_class nor by optional parameters', () => {
    const TO = '+491701234567'
    const text = (id: string, stat = 'DELIVRD') =>
      `id:${id} sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 stat:${stat} err:000 text:Hi`
    const unmarked = (id: string, from = TO, to = 'Posthorn') => ({
      source_addr: from.replace('+', ''),
      destination_addr: to,
      short_message: text(id),
    })
    const stored = (...given: [string, string][]) => ({ recipientsOf: async () => new Map(given) })

    it('count where they name a stored message to the one they come from, and else are messages', async () => {
      const { smsc, test } = await open('accept', stored(['A1', TO], ['A2', '+491700000000']))
      const deliveries = [
        unmarked('A1'),
        unmarked('A1', 'Posthorn', TO),
        unmarked('A2'),
        unmarked('A3'),
        { ...unmarked('A1'), short_message: `Look: ${text('A1')}` },
        { ...unmarked('A1'), short_message: 'id:A1 stat:MARRIED' },
      ]
      for (const [at, fields] of deliveries.entries()) {
        smsc.deliver(fields)
        await smsc.acknowledged(at + 1)
      }
      expect(test.inbound).toMatchObject([
        { kind: 'receipt', providerId: 'A1', status: 'delivered' },
        { kind: 'receipt', providerId: 'A1' },
        { kind: 'message', from: TO, text: text('A2') },
        { kind: 'message', text: text('A3') },
        { kind: 'message' },
        { kind: 'message' },
      ])
    })

    it('count at once after the submit, although nothing is stored yet', async () => {
      const { smsc, test, link } = await open((_, nth) => ({ id: `0000A1B${nth}` }))
      smsc.deliver(unmarked('1'))
      await smsc.acknowledged(1)
      await link.send(sms({ to: TO }), never())
      // The id in decimal.
      smsc.deliver(unmarked('41393'))
      await smsc.acknowledged(2)
      smsc.deliver(unmarked('0000A1B1'))
      await smsc.acknowledged(3)
      smsc.deliver(unmarked('41393', '+491700000000'))
      await smsc.acknowledged(4)
      expect(test.inbound.map(({ kind }) => kind)).toEqual(['message', 'receipt', 'receipt', 'message'])
      expect(receiptsOf(test.inbound).map(({ providerId }) => providerId)).toEqual(['0000A1B1', '0000A1B1'])
    })

    it('teach nothing about ids where they are messages of people', async () => {
      const { smsc, test, link } = await open(() => ({ id: '41394' }))
      await link.send(sms({ to: TO }), never())
      smsc.deliver(unmarked('A1B2', '+491700000000'))
      smsc.deliver({ esm_class: 4, short_message: text('41394') })
      smsc.deliver({ esm_class: 4, short_message: text('1234') })
      await smsc.acknowledged(3)
      expect(receiptsOf(test.inbound).map(({ providerId }) => providerId)).toEqual(['41394', '1234'])
    })

    it('are refused temporarily while it cannot be read whether they are', async () => {
      let reads = 0
      const { smsc, test } = await open('accept', {
        recipientsOf: () =>
          ++reads === 1 ? Promise.reject(new Error('the store is gone')) : Promise.resolve(new Map()),
      })
      smsc.deliver(unmarked('A1'))
      await smsc.acknowledged(1)
      smsc.deliver(unmarked('A1'))
      await smsc.acknowledged(2)
      expect(smsc.acknowledgements).toEqual([0x08, 0])
      expect(test.inbound).toMatchObject([{ kind: 'message' }])
    })
  })

  it('are refused temporarily while the ids of an earlier process cannot be read', async () => {
    let reads = 0
    const { smsc, test } = await open('accept', {
      earlierIds: () => (++reads <= 2 ? Promise.reject(new Error('the store is gone')) : Promise.resolve([])),
    })
    for (const count of [1, 2]) {
      smsc.deliver({ esm_class: 4, short_message: 'id:41394 stat:DELIVRD err:000' })
      await smsc.acknowledged(count)
    }
    expect(smsc.acknowledgements).toEqual([0x08, 0])
    expect(test.inbound).toHaveLength(1)
  })

  it('that arrive before the response to their submit are emitted first', async () => {
    const order: string[] = []
    let smsc: Smsc
    const opened = await open(
      () => ({
        id: 'early',
        before: () => smsc.deliver({ esm_class: 4, short_message: 'id:early stat:DELIVRD err:000' }),
      }),
      {
        emit: async inbound => {
          order.push(`receipt ${receiptsOf(inbound)[0]!.providerId}`)
        },
      },
    )
    smsc = opened.smsc
    const outcome = await opened.link.send(sms(), never())
    order.push(`answer ${outcome.kind === 'accepted' && outcome.providerId}`)
    expect(order).toEqual(['receipt early', 'answer early'])
  })

  it('that arrive together keep their order and are all acknowledged', async () => {
    const { smsc, test } = await open()
    const many = 3000
    for (let number = 0; number < many; number++) {
      smsc.deliver({ esm_class: 4, short_message: `id:n-${number} stat:DELIVRD err:000` })
    }
    await smsc.acknowledged(many)
    expect(receiptsOf(test.inbound).map(one => one.providerId)).toEqual(
      Array.from({ length: many }, (_, number) => `n-${number}`),
    )
  })

  it('are not read further while too many are unstored, and are read again afterwards', async () => {
    const pending: (() => void)[] = []
    const { smsc, test } = await open('accept', {
      emit: () => new Promise(resolve => pending.push(resolve)),
    })
    const many = 20_000
    for (let number = 0; number < many; number++) {
      smsc.deliver({ esm_class: 4, short_message: `id:n-${number} stat:DELIVRD err:000` })
    }
    await test.emitted(1001)
    // Enough turns to read everything several times. Receipts of a chunk that was already read are still processed.
    for (let turn = 0; turn < 500; turn++) await new Promise(resolve => setImmediate(resolve))
    expect(test.inbound.length).toBeLessThan(5000)
    let stored = 0
    while (stored < many) {
      await test.emitted(stored + 1)
      for (const store of pending.splice(0)) {
        store()
        stored++
      }
    }
    await smsc.acknowledged(many)
    expect(new Set(smsc.acknowledgements)).toEqual(new Set([0]))
  })

  it('that are still unread do not make a submit time out whose response follows them', async () => {
    const clock = createFakeClock()
    const pending: (() => void)[] = []
    let storing = false
    const { smsc, test, link } = await open('accept', {
      clock,
      emit: () => (storing ? Promise.resolve() : new Promise(resolve => pending.push(resolve))),
    })
    for (let number = 0; number < 10_000; number++) {
      smsc.deliver({ esm_class: 4, short_message: `id:n-${number} stat:DELIVRD err:000` })
    }
    await test.emitted(1001)
    const outcome = link.send(sms(), never())
    await smsc.submitted(1)
    await clock.advance(20_000)
    storing = true
    for (const store of pending) store()
    expect(await outcome).toMatchObject({ kind: 'accepted' })
    await smsc.acknowledged(10_000)
  })

  it('with a decimal id are matched to a hexadecimal id right after the response', async () => {
    let smsc: Smsc
    const opened = await open(() => {
      setImmediate(() => smsc.deliver({ esm_class: 4, short_message: 'id:16702650 stat:DELIVRD err:000' }))
      return { id: 'FEDCBA' }
    })
    smsc = opened.smsc
    expect(await opened.link.send(sms(), never())).toMatchObject({ providerId: 'FEDCBA' })
    await opened.test.emitted(1)
    expect(opened.test.inbound).toMatchObject([{ providerId: 'FEDCBA' }])
  })

  it('in data_sm are emitted too', async () => {
    const { smsc, test } = await open()
    smsc.send('data_sm', { esm_class: 4, receipted_message_id: 'x', message_state: 2 })
    await smsc.acknowledged(1)
    expect(test.inbound).toMatchObject([{ providerId: 'x', status: 'delivered' }])
  })

  it('are not read from an inbound message whose text looks like a receipt', async () => {
    const { smsc, test } = await open()
    smsc.deliver({
      source_addr: '491701234567',
      destination_addr: '70123',
      short_message: 'id:1 stat:DELIVRD',
    })
    await smsc.acknowledged(1)
    expect(smsc.acknowledgements).toEqual([0])
    expect(test.inbound).toMatchObject([{ kind: 'message', text: 'id:1 stat:DELIVRD' }])
  })

  it('without an id or a state are acknowledged with a warning', async () => {
    const { smsc, test } = await open()
    smsc.deliver({ esm_class: 4, short_message: 'nothing to see' })
    await smsc.acknowledged(1)
    expect(test.warnings).toEqual([
      'smpp: a receipt without an id or a known state was acknowledged and dropped',
    ])
  })
})
