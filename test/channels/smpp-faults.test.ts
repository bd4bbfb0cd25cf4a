import { createServer } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import {
  COMMAND,
  createPduWriter,
  ESM_DELIVERY_RECEIPT,
  writeShortMessage,
} from '../../src/channels/smpp/pdu.ts'
import { openSession } from '../../src/channels/smpp/session.ts'
import { createCertificate } from '../support/certificate.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { freePort } from '../support/loopback.ts'
import { createSignals, turnsUntil } from '../support/signals.ts'
import { never, openTestLink, sms, type TestLink, type TestLinkOptions } from '../support/smpp-link.ts'
import { type Answer, type Smsc, type SmscBehaviour, type SmscOptions, startSmsc } from '../support/smsc.ts'

const cleanups: (() => Promise<unknown>)[] = []

async function startCentre(
  behaviour: SmscBehaviour | Answer = 'accept',
  options: SmscOptions = {},
): Promise<Smsc> {
  const smsc = await startSmsc(behaviour, options)
  cleanups.push(() => smsc.close())
  return smsc
}

/** The clock moves only when a test advances it, so no timeout fires by accident. */
async function linkTo(port: number, options: TestLinkOptions = {}) {
  const clock = createFakeClock()
  const test = await openTestLink(port, { clock, ...options })
  cleanups.push(() => closeLink(test, clock))
  return { test, link: test.link, clock }
}

async function open(
  behaviour: SmscBehaviour | Answer = 'accept',
  options: TestLinkOptions & SmscOptions = {},
) {
  const smsc = await startCentre(behaviour, options)
  const linked = await linkTo(smsc.port, options)
  await linked.test.state('up')
  return { smsc, ...linked }
}

/** Advances the clock until the link is closed: close() waits for pending responses and for the unbind. */
async function closeLink(test: TestLink, clock: FakeClock): Promise<void> {
  let closed = false
  test.link.close().then(() => {
    closed = true
  })
  while (!closed) await clock.advance(1000)
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('a submit that was written, but has no valid response, is unknown', () => {
  it('when the response times out; the late response is reported and the bind stays up', async () => {
    const { smsc, link, clock, test } = await open('silent')
    const outcome = link.send(sms(), never())
    await smsc.submitted(1)
    await clock.advance(10_000)
    expect(await outcome).toEqual({ kind: 'unknown', detail: 'no response within 10000 ms' })
    smsc.behave('accept')
    smsc.send('submit_sm_resp', { sequence_number: smsc.submits[0]!.sequence, message_id: 'late' })
    await test.warned(1)
    expect(test.warnings).toEqual(['smpp: a response came after its submit had timed out'])
    expect(test.late).toEqual([
      {
        accountId: expect.stringMatching(/^acc_/),
        attemptId: expect.stringMatching(/^msg_.*\.1$/),
        outcome: { kind: 'accepted', providerId: 'late', parts: 1 },
      },
    ])
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'accepted' })
    expect(smsc.commands.filter(command => command === 'bind_transceiver')).toHaveLength(1)
  })

  it.each([
    [
      'is rejected once a late response refuses the first part',
      0x0b,
      [{ kind: 'rejected', code: 'RECIPIENT_REJECTED' }],
    ],
    ['stays unknown when a late response accepts the first part', 0, []],
  ])('when its first part times out; it %s', async (_, command_status, outcomes) => {
    const { smsc, link, clock, test } = await open('silent')
    const outcome = link.send(sms({ text: 'a'.repeat(400) }), never())
    await smsc.submitted(1)
    await clock.advance(10_000)
    expect(await outcome).toMatchObject({ kind: 'unknown' })
    const { sequence } = smsc.submits[0]!
    smsc.send('submit_sm_resp', { sequence_number: sequence, command_status, message_id: 'late' })
    await test.warned(1)
    expect(test.late).toMatchObject(outcomes.map(late => ({ outcome: late })))
  })

  it('after its own timeout, without an effect on other submits', async () => {
    const { smsc, link, clock } = await open('silent')
    const early = link.send(sms(), never())
    await smsc.submitted(1)
    await clock.advance(6000)
    const late = link.send(sms(), never())
    await smsc.submitted(2)
    await clock.advance(4000)
    expect(await early).toMatchObject({ kind: 'unknown' })
    smsc.send('submit_sm_resp', { sequence_number: smsc.submits[1]!.sequence, message_id: 'b' })
    expect(await late).toMatchObject({ kind: 'accepted', providerId: 'b' })
  })

  it('when its signal aborts', async () => {
    const { smsc, link } = await open('silent')
    const stop = new AbortController()
    const outcome = link.send(sms(), stop.signal)
    await smsc.submitted(1)
    stop.abort()
    expect(await outcome).toMatchObject({ kind: 'unknown' })
  })

  it.each([
    ['reset-after-submit', 'the connection is reset'],
    ['garbage', 'the response is not a PDU'],
  ] as const)('on %s: %s', async (behaviour, _what) => {
    const { link } = await open(behaviour)
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'unknown' })
  })

  it('when only half a response comes before the timeout', async () => {
    const { smsc, link, clock } = await open('half')
    const outcome = link.send(sms(), never())
    await smsc.submitted(1)
    await clock.advance(10_000)
    expect(await outcome).toMatchObject({ kind: 'unknown' })
  })

  it.each([
    ['a response to another command', { command: 'enquire_link_resp' }],
    ['a generic_nack with the status 0', { command: 'generic_nack', status: 0 }],
  ])('on %s, and the session is closed', async (_name, answer) => {
    const { smsc, link } = await open(() => answer)
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'unknown' })
    await smsc.idle()
  })

  it('together with all other submits of its bind when the connection is reset', async () => {
    const { smsc, link } = await open('silent')
    const sends = Array.from({ length: 50 }, () => link.send(sms(), never()))
    await smsc.submitted(50)
    smsc.reset()
    const outcomes = await Promise.all(sends)
    expect(outcomes.map(outcome => outcome.kind)).toEqual(Array(50).fill('unknown'))
  })
})

describe('a submit that was not written ends in retry', () => {
  it('after three seconds when nothing listens on the port', async () => {
    const { link, clock, test } = await linkTo(await freePort())
    await test.state('down')
    const outcome = link.send(sms(), never())
    await clock.advance(3000)
    expect(await outcome).toMatchObject({ kind: 'retry', detail: expect.stringContaining('ECONNREFUSED') })
  })

  it('when its signal aborts while no bind is up', async () => {
    const { link } = await linkTo((await startCentre('slow-connect')).port)
    const stop = new AbortController()
    const outcome = link.send(sms(), stop.signal)
    stop.abort()
    expect(await outcome).toMatchObject({ kind: 'retry' })
  })

  it('at once when the bind is refused for a wrong password; the link reports the reason and binds later', async () => {
    const smsc = await startCentre('refuse-bind')
    const { link, test, clock } = await linkTo(smsc.port)
    await test.state('down')
    expect(test.states.at(-1)!.detail).toContain('ESME_RINVPASWD (0x0000000E)')
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'retry' })
    expect(await link.test!(never())).toMatchObject({
      ok: false,
      detail: expect.stringContaining('RINVPASWD'),
    })
    expect(test.warnings).toEqual(['smpp: no bind to the SMSC is up'])
    // The next attempt follows only after 30 s, so that the SMSC is not flooded with binds.
    await clock.advance(29_999)
    expect(smsc.commands).toEqual(['bind_transceiver'])
    smsc.behave('accept')
    await clock.advance(1)
    await test.state('up')
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'accepted' })
  })

  it('when the link was closed', async () => {
    const { link } = await open()
    await link.close()
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'retry' })
  })
})

describe('the bind', () => {
  it('is restored when the SMSC is back, and a waiting submit is sent', async () => {
    const { smsc, test, link, clock } = await open()
    await smsc.close()
    await test.state('down')
    const waiting = link.send(sms(), never())
    const again = await startCentre('accept', { port: smsc.port })
    await clock.advance(200)
    await test.state('up')
    expect(await waiting).toMatchObject({ kind: 'accepted' })
    expect(again.submits).toHaveLength(1)
  })

  it('is retried with growing pauses of up to ten seconds, and one warning is logged', async () => {
    const { smsc, test, clock } = await open()
    await smsc.close()
    await test.state('down')
    const signals = createSignals()
    let connected = 0
    let closed = 0
    const server = createServer(socket => {
      connected++
      // The link closes the connection because of this. By then it has scheduled its next attempt.
      socket.on('error', () => {}).end('this is no SMSC')
      socket.resume().on('close', () => {
        closed++
        signals.notify()
      })
    })
    await new Promise<void>(resolve => server.listen(smsc.port, '127.0.0.1', resolve))
    cleanups.push(() => new Promise(resolve => server.close(resolve)))
    for (const [tries, pauseMs] of [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000].entries()) {
      await clock.advance(pauseMs - 1)
      expect(connected).toBe(tries)
      await clock.advance(1)
      await signals.until(() => closed === tries + 1)
    }
    // An outage is logged once, however often the bind is retried.
    expect(test.warnings).toEqual(['smpp: no bind to the SMSC is up'])
  })

  it('is replaced when enquire_link has no response within ten seconds', async () => {
    const { smsc, test, clock } = await open('accept', { answerEnquiries: false })
    await clock.advance(30_000)
    await smsc.commanded('enquire_link')
    await clock.advance(9999)
    expect(test.states.at(-1)!.state).toBe('up')
    await clock.advance(1)
    expect(test.states.at(-1)).toEqual({
      state: 'down',
      detail: '0 of 1 bound; transceiver: no response to enquire_link',
    })
    await clock.advance(200)
    await smsc.bound(2)
  })

  it('stays up while enquire_link gets a response', async () => {
    const { smsc, test, clock } = await open()
    for (let minute = 1; minute <= 3; minute++) {
      await clock.advance(30_000)
      await turnsUntil(() => smsc.commands.length === 1 + minute)
      // The response has arrived when the only timer left is that of the next enquire_link.
      await turnsUntil(() => clock.pending() === 1)
    }
    expect(test.states.map(one => one.state)).toEqual(['connecting', 'up'])
    expect(smsc.commands).toEqual(['bind_transceiver', 'enquire_link', 'enquire_link', 'enquire_link'])
  })

  it('is closed with an unbind_resp when the SMSC unbinds, and is then restored', async () => {
    const { smsc, test, clock, link } = await open()
    smsc.send('unbind')
    await smsc.commanded('unbind_resp')
    await test.state('down')
    await clock.advance(200)
    await test.state('up')
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'accepted' })
  })

  it('waits for responses under way before it responds to an unbind', async () => {
    const { smsc, link, test } = await open('silent')
    const outcomes = [link.send(sms(), never()), link.send(sms(), never())]
    await smsc.submitted(2)
    smsc.send('unbind')
    for (const { sequence } of smsc.submits) {
      smsc.send('submit_sm_resp', { sequence_number: sequence, message_id: `id-${sequence}` })
    }
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ kind: 'accepted' })
    await smsc.commanded('unbind_resp')
    await test.state('down')
  })

  it('is closed one second after an unbind when the responses do not come', async () => {
    const { smsc, link, clock, test } = await open('silent')
    const outcome = link.send(sms(), never())
    await smsc.submitted(1)
    smsc.send('unbind')
    smsc.send('enquire_link')
    await smsc.commanded('enquire_link_resp')
    expect(smsc.commands).not.toContain('unbind_resp')
    await clock.advance(1000)
    expect(await outcome).toEqual({ kind: 'unknown', detail: 'the SMSC unbound' })
    await smsc.commanded('unbind_resp')
    await test.state('down')
  })

  it('is given up when it gets no response', async () => {
    const smsc = await startCentre('slow-connect')
    const { test, clock } = await linkTo(smsc.port)
    await smsc.commanded('bind_transceiver')
    await clock.advance(10_000)
    expect(test.states.at(-1)).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('no response to the bind'),
    })
  })

  it.each([
    ['a PDU length of zero', Buffer.alloc(16)],
    ['text instead of a PDU', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('is closed when the SMSC sends %s', async (_name, bytes) => {
    const { smsc, test } = await open()
    smsc.write(bytes)
    await test.state('down')
    await smsc.idle()
  })

  it.each([
    ['an extra octet after the text', 'id:1 stat:DELIVRD', '00', 0x00],
    ['an optional parameter whose length exceeds the PDU', 'id:1 stat:DELIVRD', '0427000902', 0x00],
    ['a truncated text in an optional parameter', '', '0424002069643a31', 0xc0],
  ])('stays up after a receipt that has %s', async (_name, text, extra, status) => {
    const { smsc } = await open()
    smsc.write(receiptPdu(text, Buffer.from(extra, 'hex')))
    await smsc.acknowledged(1)
    expect(smsc.acknowledgements).toEqual([status])
    smsc.send('enquire_link')
    await smsc.commanded('enquire_link_resp')
  })

  it.each([
    ['deliver_sm', '00000005', '41424344', 'deliver_sm_resp'],
    ['deliver_sm without a body', '00000005', '', 'deliver_sm_resp'],
    [
      'deliver_sm whose text is shorter than its stated length',
      '00000005',
      '000101313200010132330000000000000000000009414243',
      'deliver_sm_resp',
    ],
    ['data_sm', '00000103', '41424344', 'data_sm_resp'],
  ])('stays up after a truncated PDU (%s), which it refuses', async (_name, command, body, response) => {
    const { smsc, test } = await open()
    const length = (16 + body.length / 2).toString(16).padStart(8, '0')
    smsc.write(Buffer.from(`${length}${command}0000000000000007${body}`, 'hex'))
    await smsc.commanded(response)
    smsc.write(receiptPdu('id:1 stat:DELIVRD', Buffer.alloc(0)))
    await smsc.acknowledged(2)
    expect(smsc.acknowledgements).toEqual([0x02, 0x00])
    expect(test.states.map(one => one.state)).toEqual(['connecting', 'up'])
  })

  it('accepts a submit_sm_resp whose message id does not end with a NUL', async () => {
    const { smsc, link } = await open('silent')
    const outcome = link.send(sms(), never())
    await smsc.submitted(1)
    const answer = Buffer.from('000000178000000400000000000000006161612d313233', 'hex')
    answer.writeUInt32BE(smsc.submits[0]!.sequence, 12)
    smsc.write(answer)
    expect(await outcome).toEqual({ kind: 'accepted', providerId: 'aaa-123', parts: 1 })
  })

  it('unbinds on close', async () => {
    const { smsc, link } = await open()
    await link.close()
    expect(smsc.commands.at(-1)).toBe('unbind')
    await smsc.idle()
  })
})

describe('the connection', () => {
  const validCertificate = createCertificate(['127.0.0.1'])
  const otherNameCertificate = createCertificate(['smsc.example.org'])

  it('over TLS trusts the configured CA', async () => {
    const { link } = await open('accept', {
      tls: validCertificate,
      config: { tls: true, tlsCa: validCertificate.cert },
    })
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'accepted' })
  })

  it('over TLS checks the certificate against the configured server name', async () => {
    const { link } = await open('accept', {
      tls: otherNameCertificate,
      config: { tls: true, tlsCa: otherNameCertificate.cert, tlsServerName: 'smsc.example.org' },
    })
    expect(await link.send(sms(), never())).toMatchObject({ kind: 'accepted' })
  })

  it.each([
    ['from an untrusted issuer', validCertificate, {}],
    ['for another name', otherNameCertificate, { tlsCa: otherNameCertificate.cert }],
    ['when the configured CA is not valid PEM', validCertificate, { tlsCa: '-----BEGIN CERTIFICATE-----' }],
  ])('over TLS refuses a certificate %s and sends nothing', async (_name, tls, config) => {
    const smsc = await startCentre('accept', { tls })
    const { test } = await linkTo(smsc.port, { config: { tls: true, ...config } })
    await test.state('down')
    expect(smsc.commands).toEqual([])
    expect(test.states.map(one => one.state)).not.toContain('up')
  })

  it('is given up when the TLS handshake is not done within five seconds', async () => {
    const mute = createServer(socket => socket.on('error', () => {}).resume())
    await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => new Promise(resolve => mute.close(resolve)))
    const { port } = mute.address() as { port: number }
    const { test, clock } = await linkTo(port, { config: { tls: true } })
    await clock.advance(5000)
    expect(test.states.at(-1)).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('no connection within 5000 ms'),
    })
  })

  it('that is closed during the pause before the next attempt makes no further attempt', async () => {
    const smsc = await startCentre()
    const { test, link, clock } = await linkTo(smsc.port)
    await test.state('up')
    await smsc.close()
    await test.state('down')
    const again = await startCentre('accept', { port: smsc.port })
    await link.close()
    await clock.advance(60_000)
    // Neither a pause nor an attempt, which has a time limit, is pending.
    expect(clock.pending()).toBe(0)
    const other = await linkTo(smsc.port)
    await other.test.state('up')
    expect(again.commands).toEqual(['bind_transceiver'])
    expect(test.states.at(-1)).toMatchObject({ state: 'down' })
  })
})

describe('an SMSC that sends but does not read', () => {
  const MESSAGE = {
    serviceType: '',
    sourceTon: 1,
    sourceNpi: 1,
    source: '491701234567',
    destTon: 0,
    destNpi: 0,
    dest: '70123',
    esmClass: 0,
    registeredDelivery: 0,
    dataCoding: 0,
    udh: null,
    body: Buffer.from('Hello'),
  }
  const BIND_REQUEST = {
    systemId: 'a',
    password: 'b',
    systemType: '',
    interfaceVersion: 0x34,
    addressTon: 0,
    addressNpi: 0,
    addressRange: '',
  }
  const BOUND = Buffer.from('0000001180000009000000000000000100', 'hex')

  /** A socket whose writes never complete. */
  function stalledSocket() {
    const socket = new Duplex({ read() {}, write() {} })
    return Object.assign(socket, { setNoDelay() {}, destroySoon: () => socket.destroy() })
  }

  it('is disconnected when it does not respond to enquire_link, however many responses are queued for it', async () => {
    const clock = createFakeClock()
    const socket = stalledSocket()
    const closed: string[] = []
    const session = openSession(socket as never, {
      clock,
      log: { info() {}, warn() {}, debug() {} },
      responseTimeoutMs: 10_000,
      enquireLinkMs: 30_000,
      onDelivery: async () => 0,
      onWindowSpace() {},
      onClosing() {},
      onClosed: reason => closed.push(reason),
    })
    const bound = session.bind(COMMAND.bindTransceiver, BIND_REQUEST)
    socket.push(BOUND)
    expect(await bound).toEqual({ kind: 'bound' })
    const writer = createPduWriter()
    for (let number = 1; number <= 80_000; number++) {
      writeShortMessage(writer, COMMAND.deliverSm, number, MESSAGE)
    }
    socket.push(writer.take())
    await turnsUntil(() => socket.writableLength > 1_048_576)
    await clock.advance(80_000)
    expect(closed).toEqual(['no response to enquire_link'])
  })
})

/** A deliver_sm with a receipt, followed by extra octets. */
function receiptPdu(text: string, extra: Buffer): Buffer {
  const writer = createPduWriter()
  writeShortMessage(writer, COMMAND.deliverSm, 1, {
    serviceType: '',
    sourceTon: 1,
    sourceNpi: 1,
    source: '491701234567',
    destTon: 5,
    destNpi: 0,
    dest: 'Posthorn',
    esmClass: ESM_DELIVERY_RECEIPT,
    registeredDelivery: 0,
    dataCoding: 0,
    udh: null,
    body: Buffer.from(text),
  })
  const pdu = Buffer.concat([writer.take()!, extra])
  pdu.writeUInt32BE(pdu.length, 0)
  return pdu
}
