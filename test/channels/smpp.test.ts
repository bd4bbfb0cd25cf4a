import { afterEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../support/fake-clock.ts'
import { turnsUntil } from '../support/signals.ts'
import { never, openTestLink, sms, type TestLink, type TestLinkOptions } from '../support/smpp-link.ts'
import { type Answer, type Smsc, type SmscBehaviour, type SmscOptions, startSmsc } from '../support/smsc.ts'

const opened: { smsc: Smsc; test: TestLink }[] = []

async function open(
  behaviour: SmscBehaviour | Answer = 'accept',
  options: TestLinkOptions = {},
  centre: SmscOptions = {},
) {
  const smsc = await startSmsc(behaviour, centre)
  const test = await openTestLink(smsc.port, options)
  opened.push({ smsc, test })
  await test.state('up')
  return { smsc, test, link: test.link }
}

afterEach(async () => {
  for (const { smsc, test } of opened.splice(0)) {
    await test.link.close()
    await smsc.idle()
    await smsc.close()
  }
})

describe('a submit', () => {
  it('is accepted with the message id that the SMSC returns', async () => {
    const { link, smsc } = await open(() => ({ id: 'abc-42' }))
    expect(await link.send(sms(), never())).toEqual({ kind: 'accepted', providerId: 'abc-42', parts: 1 })
    expect(smsc.submits[0]).toMatchObject({
      text: 'Hello there',
      source_addr: 'Posthorn',
      destination_addr: '491701234567',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      registered_delivery: 1,
      esm_class: 0,
      data_coding: 0,
    })
  })

  it.each([
    ['Posthorn', 5, 0, 'Posthorn'],
    ['+4915112345678', 1, 1, '4915112345678'],
    ['4915112345678', 1, 1, '4915112345678'],
    ['70123', 3, 0, '70123'],
    [null, 0, 0, ''],
  ])('from the sender %s has TON %i and NPI %i', async (from, ton, npi, address) => {
    const { link, smsc } = await open()
    await link.send(sms({ from }), never())
    expect(smsc.submits[0]).toMatchObject({
      source_addr_ton: ton,
      source_addr_npi: npi,
      source_addr: address,
    })
  })

  it('uses TON, NPI, service type and sender of the configuration', async () => {
    const { link, smsc } = await open('accept', {
      config: {
        sourceAddress: '12345',
        sourceTon: 6,
        sourceNpi: 9,
        destTon: 2,
        destNpi: 8,
        serviceType: 'CMT',
      },
    })
    await link.send(sms({ from: null }), never())
    expect(smsc.submits[0]).toMatchObject({
      source_addr: '12345',
      source_addr_ton: 6,
      source_addr_npi: 9,
      dest_addr_ton: 2,
      dest_addr_npi: 8,
      service_type: 'CMT',
    })
  })

  it.each([
    ['the whole alphabet @£$¥èéùìòÇΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¡ÄÖÑÜ§¿äöñüà {[€]} ~^|\\', 0],
    ['кириллица и 中文 и 😀', 8],
  ])('carries the text %j unchanged', async (text, dataCoding) => {
    const { link, smsc } = await open()
    await link.send(sms({ text }), never())
    expect(smsc.submits[0]).toMatchObject({ text, data_coding: dataCoding })
  })

  it.each([
    ['latin1', 'Grüße @ 5$_£ {à} ~^|\\', 0],
    ['latin1', 'für 5 €', 8],
    ['latin1', 'ça', 8],
    ['ascii', 'plain @ 5$_ {a} ~^|\\', 0],
    ['ascii', 'Grüße', 8],
  ] as const)(
    'to an SMSC whose alphabet is %s carries the text %j unchanged',
    async (alphabet, text, dataCoding) => {
      const { link, smsc } = await open(
        'accept',
        { config: { defaultAlphabet: alphabet } },
        { alphabet: 'LATIN1' },
      )
      expect(await link.send(sms({ text }), never())).toMatchObject({ kind: 'accepted', parts: 1 })
      expect(smsc.submits[0]).toMatchObject({ text, data_coding: dataCoding })
    },
  )

  it('to an SMSC whose alphabet is Latin-1 is cut where GSM-7 would be, and elsewhere if it is in UCS-2', async () => {
    const { link, smsc } = await open(
      'accept',
      { config: { defaultAlphabet: 'latin1' } },
      { alphabet: 'LATIN1' },
    )
    const texts = (from: number) => smsc.submits.slice(from).map(submit => submit.text)
    expect(await link.send(sms({ text: 'é'.repeat(160) }), never())).toMatchObject({ parts: 1 })
    expect(await link.send(sms({ text: '{'.repeat(100) }), never())).toMatchObject({ parts: 2 })
    expect(texts(1)).toEqual(['{'.repeat(76), '{'.repeat(24)])
    expect(await link.send(sms({ text: `€${'a'.repeat(159)}` }), never())).toMatchObject({ parts: 3 })
    expect(texts(3)).toEqual([`€${'a'.repeat(66)}`, 'a'.repeat(67), 'a'.repeat(26)])
    expect(await link.send(sms({ text: 'a€'.repeat(10_000) }), never())).toMatchObject({
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
    })
  })

  it.each([
    [{ to: 'someone@example.org' }, 'RECIPIENT_REJECTED'],
    [{ to: '+49\u0000170' }, 'RECIPIENT_REJECTED'],
    [{ from: 'a sender too long' }, 'SENDER_REJECTED'],
    [{ from: 'Büro' }, 'SENDER_REJECTED'],
    [{ text: 'a'.repeat(255 * 153 + 1) }, 'MESSAGE_REJECTED'],
    [{ text: '' }, 'MESSAGE_REJECTED'],
  ])('that SMPP cannot carry (case %#) is rejected without being sent', async (more, code) => {
    const { link, smsc } = await open()
    expect(await link.send(sms(more), never())).toMatchObject({ kind: 'rejected', code })
    expect(smsc.submits).toHaveLength(0)
  })

  it('is accepted under a generated id when the response has no message id', async () => {
    const { link } = await open(() => ({ id: '' }))
    expect(await link.send(sms({ attemptId: 'msg_x.1' }), never())).toMatchObject({
      kind: 'accepted',
      providerId: 'unnamed-msg_x.1',
    })
  })
})

describe('a refused submit', () => {
  it.each([
    [0x0a, { kind: 'rejected', code: 'SENDER_REJECTED', providerCode: '0x0000000A' }],
    [0x0b, { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '0x0000000B' }],
    [0x33, { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '0x00000033' }],
    [0x45, { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '0x00000045' }],
    [0x421, { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '0x00000421' }],
    [0x08, { kind: 'retry', providerCode: '0x00000008' }],
    [0x64, { kind: 'retry', providerCode: '0x00000064' }],
    [0x58, { kind: 'throttled', afterMs: 250, providerCode: '0x00000058' }],
    [0x14, { kind: 'throttled', afterMs: 250, providerCode: '0x00000014' }],
  ])('with command status %i has the outcome that belongs to this status', async (status, outcome) => {
    const { link } = await open(() => ({ status }), { config: { throttleMs: 250 } })
    expect(await link.send(sms(), never())).toMatchObject(outcome)
  })

  it('by generic_nack has the outcome that belongs to its command status', async () => {
    const { link } = await open(() => ({ command: 'generic_nack', status: 0x58 }))
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'throttled', providerCode: '0x00000058' })
  })
})

describe('a message of several parts', () => {
  const LONG = 'a'.repeat(400)

  it('is sent in order with one reference, and its provider id joins the ids of all parts', async () => {
    const { link, smsc } = await open()
    expect(await link.send(sms({ text: LONG }), never())).toEqual({
      kind: 'accepted',
      providerId: 'id-1,id-2,id-3',
      parts: 3,
      pieces: { whole: 'id-1,id-2,id-3', ids: ['id-1', 'id-2', 'id-3'], total: 3 },
    })
    const headers = smsc.submits.map(submit => [...submit.udh!])
    const reference = headers[0]![2]!
    expect(headers).toEqual([
      [0, 3, reference, 3, 1],
      [0, 3, reference, 3, 2],
      [0, 3, reference, 3, 3],
    ])
    expect(smsc.submits.map(submit => submit.text).join('')).toBe(LONG)
    expect(smsc.submits.every(submit => submit['esm_class'] === 0x40)).toBe(true)
  })

  it('has one provider id when the SMSC returns the same id for all parts', async () => {
    const { link } = await open(() => ({ id: 'one' }))
    expect(await link.send(sms({ text: LONG }), never())).toEqual({
      kind: 'accepted',
      providerId: 'one',
      parts: 3,
    })
  })

  it('has a provider id of the first and last part when all ids together are too long', async () => {
    const { link } = await open((_submit, nth) => ({ id: `${nth}`.padStart(64, '0') }))
    const outcome = await link.send(sms({ text: 'a'.repeat(600) }), never())
    const [first, last] = ['1', '4'].map(nth => nth.padStart(64, '0'))
    expect(outcome).toMatchObject({ providerId: `${first},…,${last}`, pieces: { total: 4 } })
  })

  it('has the next reference after that of the previous message', async () => {
    const { link, smsc } = await open()
    await link.send(sms({ text: LONG }), never())
    await link.send(sms({ text: LONG }), never())
    expect(smsc.submits[3]!.udh![2]).toBe((smsc.submits[0]!.udh![2]! + 1) & 0xff)
  })

  it.each([
    [0x0b, 'rejected'],
    [0x58, 'throttled'],
    [0x08, 'retry'],
  ])(
    'is not accepted, and no other part is sent, when the first part is refused with status %i',
    async (status, kind) => {
      const { link, smsc } = await open(() => ({ status }))
      expect(await link.send(sms({ text: LONG }), never())).toMatchObject({ kind })
      expect(smsc.submits).toHaveLength(1)
    },
  )

  it('retries a later part after a pause when the SMSC throttles it', async () => {
    const clock = createFakeClock()
    const { link, smsc } = await open((_submit, nth) => (nth === 2 ? { status: 0x58 } : {}), { clock })
    const timers = clock.pending()
    const outcome = link.send(sms({ text: LONG }), never())
    await smsc.submitted(2)
    // One timer is the response timeout, the other the pause before the next attempt.
    await turnsUntil(() => clock.pending() === timers + 2)
    await clock.advance(1000)
    expect(await outcome).toMatchObject({ kind: 'accepted', providerId: 'id-1,id-3,id-4', parts: 3 })
    expect(smsc.submits.map(submit => submit.udh![4])).toEqual([1, 2, 2, 3])
  })

  it('is completed before another message is sent, however often the SMSC throttles its parts', async () => {
    const clock = createFakeClock()
    const { link, smsc } = await open((_submit, nth) => (nth > 1 && nth < 12 ? { status: 0x58 } : {}), {
      clock,
    })
    const timers = clock.pending()
    const outcome = link.send(sms({ text: LONG }), never())
    for (let nth = 2; nth < 12; nth++) {
      await smsc.submitted(nth)
      await turnsUntil(() => clock.pending() === timers + 2)
      expect(await link.send(sms(), never())).toMatchObject({ kind: 'throttled', afterMs: 1000 })
      await clock.advance(1000)
    }
    expect(await outcome).toMatchObject({ kind: 'accepted', parts: 3 })
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'accepted' })
    expect(smsc.submits.map(submit => submit.udh?.[4])).toEqual([1, ...Array(11).fill(2), 3, undefined])
  })

  it('is unknown when a later part is rejected after earlier parts were accepted', async () => {
    const { link, smsc } = await open((_submit, nth) => (nth === 3 ? { status: 0x45 } : {}))
    expect(await link.send(sms({ text: LONG }), never())).toEqual({
      kind: 'unknown',
      detail: '2 of 3 parts were taken, then: refused with ESME_RSUBMITFAIL',
      providerCode: '0x00000045',
      pieces: { whole: 'id-1,id-2,…', ids: ['id-1', 'id-2'], total: 3 },
    })
    expect(smsc.submits).toHaveLength(3)
  })

  it('is unknown when its signal aborts between two parts', async () => {
    const { link, smsc } = await open((_submit, nth) => (nth === 2 ? { status: 0x08 } : {}), {
      clock: createFakeClock(),
    })
    const stop = new AbortController()
    const outcome = link.send(sms({ text: LONG }), stop.signal)
    await smsc.submitted(2)
    stop.abort()
    expect(await outcome).toMatchObject({ kind: 'unknown', detail: expect.stringContaining('1 of 3 parts') })
  })
})

describe('binds', () => {
  it('use bind_transceiver by default, and the link reports connecting, then up', async () => {
    const { smsc, test } = await open()
    expect(smsc.commands).toEqual(['bind_transceiver'])
    expect(test.states.map(one => one.state)).toEqual(['connecting', 'up'])
  })

  it('carry the system_id, password and system_type of the configuration, and the version 3.4', async () => {
    const config = { systemId: 'acme', password: 'hunter2', systemType: 'VMA' }
    const { smsc } = await open('accept', { config })
    expect(smsc.bindRequests).toMatchObject([
      { system_id: 'acme', password: 'hunter2', system_type: 'VMA', interface_version: 0x34 },
    ])
  })

  it('have an empty system_type when none is configured', async () => {
    const { smsc } = await open()
    expect(smsc.bindRequests).toMatchObject([{ system_type: '' }])
  })

  it('of mode tx_rx are pairs: submits use the transmitters, and a receipt arrives on a receiver', async () => {
    const { smsc, test, link } = await open('accept', { config: { bindMode: 'tx_rx', binds: 2 } })
    await smsc.bound(4)
    expect(smsc.commands.toSorted()).toEqual([
      'bind_receiver',
      'bind_receiver',
      'bind_transmitter',
      'bind_transmitter',
    ])
    await Promise.all(Array.from({ length: 4 }, () => link.send(sms(), never())))
    expect(smsc.submits.map(({ boundBy }) => boundBy)).toEqual(Array(4).fill('bind_transmitter'))
    expect(new Set(smsc.submits.map(({ session }) => session)).size).toBe(2)
    smsc.deliver({ esm_class: 4, short_message: 'id:id-1 stat:DELIVRD err:000' })
    await test.emitted(1)
    expect(test.inbound).toMatchObject([{ providerId: 'id-1', status: 'delivered' }])
  })

  it('share the submits evenly, each up to its window', async () => {
    const { smsc, link } = await open('silent', { config: { binds: 3, window: 2 } })
    await smsc.bound(3)
    expect(link.concurrency).toBe(6)
    const stop = new AbortController()
    const sends = Array.from({ length: 9 }, () => link.send(sms(), stop.signal))
    await smsc.submitted(6)
    const perSession = new Map<unknown, number>()
    for (const { session } of smsc.submits) perSession.set(session, (perSession.get(session) ?? 0) + 1)
    expect([...perSession.values()]).toEqual([2, 2, 2])
    stop.abort()
    const kinds = (await Promise.all(sends)).map(outcome => outcome.kind)
    expect(kinds).toEqual([...Array(6).fill('unknown'), ...Array(3).fill('retry')])
  })

  it('send a waiting submit when a response frees a place in the window', async () => {
    const { smsc, link } = await open('silent', { config: { window: 1 } })
    const first = link.send(sms({ text: 'first' }), never())
    await smsc.submitted(1)
    const second = link.send(sms({ text: 'second' }), never())
    smsc.behave('accept')
    smsc.send('submit_sm_resp', { sequence_number: smsc.submits[0]!.sequence, message_id: 'late' })
    expect(await first).toMatchObject({ kind: 'accepted', providerId: 'late' })
    expect(await second).toMatchObject({ kind: 'accepted', providerId: 'id-2' })
  })

  it('respond to enquire_link, nack unsupported commands and ignore alert_notification', async () => {
    const { smsc } = await open()
    smsc.send('alert_notification', { source_addr: '1', esme_addr: '2' })
    smsc.send('query_sm', { message_id: '1', source_addr: '2' })
    smsc.send('enquire_link')
    await smsc.commanded('enquire_link_resp')
    expect(smsc.commands).toEqual(['bind_transceiver', 'generic_nack', 'enquire_link_resp'])
  })
})
