import { generateKeyPairSync } from 'node:crypto'
import { hostname } from 'node:os'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import {
  FileUnavailable,
  type Link,
  type Outcome,
  type Outgoing,
  type OutgoingFile,
} from '../../src/channels/provider.ts'
import { type SmtpConfig, smtpProvider } from '../../src/channels/smtp.ts'
import { createCertificate } from '../support/certificate.ts'
import { verifyDkim } from '../support/dkim-verifier.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { type SmtpPeer, type SmtpScript, startSmtpServer } from '../support/smtp-server.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'

const open: { link: Link; peer: SmtpPeer }[] = []
afterEach(async () => {
  for (const { link, peer } of open.splice(0)) {
    await link.close()
    await settled(peer.idle(), 'the last connection')
    await peer.close()
  }
})

async function start(
  script: SmtpScript = {},
  config: Partial<SmtpConfig> = {},
  options: Parameters<typeof startSmtpServer>[1] = {},
) {
  const peer = await startSmtpServer(script, { allowInsecureAuth: true, ...options })
  const io = { ...createIo(), clock: createFakeClock(Date.UTC(2026, 1, 3, 4, 5, 6)) }
  const link = await smtpProvider.open(
    { host: '127.0.0.1', port: peer.port, secure: false, from: 'Posthorn <no-reply@example.org>', ...config },
    io,
  )
  open.push({ link, peer })
  return { link, peer, io }
}

const send = (link: Link, more: Partial<Outgoing> = {}, signal = never()): Promise<Outcome> =>
  settled(link.send(outgoing(1, { subject: 'Hello', ...more }), signal), 'send()')

const headOf = (peer: SmtpPeer) => peer.received[0]!.bytes.toString('latin1').split('\r\n\r\n')[0]!

function file(open: OutgoingFile['open'], more: Partial<OutgoingFile> = {}): OutgoingFile {
  return { type: 'document', mimetype: 'application/pdf', fileName: 'a.pdf', open, ...more }
}

describe('the replies of the server at every step', () => {
  test.each<[string, SmtpScript, Partial<Outcome>]>([
    ['greeting: 421 busy', { connect: { reply: '421 4.3.2 busy' } }, { kind: 'retry' }],
    ['greeting: 554 refused', { connect: { reply: '554 5.7.1 go away' } }, { kind: 'retry' }],
    [
      'login: wrong password',
      { auth: { reply: '535 5.7.8 wrong' } },
      { kind: 'retry', providerCode: '535 5.7.8' },
    ],
    ['login: temporary failure', { auth: { reply: '454 4.7.0 later' } }, { kind: 'retry' }],
    [
      'login: too many connections',
      { auth: { reply: '432 4.3.2 Concurrent connections limit exceeded.' } },
      { kind: 'throttled', afterMs: 1_000, providerCode: '432 4.3.2' },
    ],
    [
      'sender: sending rate exceeded',
      { mail: { reply: '454 Throttling failure: Maximum sending rate exceeded.' } },
      { kind: 'throttled', afterMs: 1_000, providerCode: '454' },
    ],
    [
      'mail: sending rate exceeded',
      { end: { reply: '454 Throttling failure: Maximum sending rate exceeded.' } },
      { kind: 'throttled', afterMs: 1_000, providerCode: '454' },
    ],
    [
      'mail: daily message quota exceeded',
      { end: { reply: '454 Throttling failure: Daily message quota exceeded.' } },
      { kind: 'throttled', afterMs: 600_000, providerCode: '454' },
    ],
    [
      'mail: concurrency limit of the sender exceeded',
      { end: { reply: '432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded.' } },
      { kind: 'throttled', afterMs: 1_000, providerCode: '432 4.3.2' },
    ],
    [
      'mail: daily limit of the sender exceeded',
      { end: { reply: '550 5.4.5 Daily user sending limit exceeded. - gsmtp' } },
      { kind: 'throttled', afterMs: 600_000, providerCode: '550 5.4.5' },
    ],
    [
      'mail: daily limit of the customer exceeded, in a reply of several lines',
      {
        data: {
          raw: '550-5.7.1 Daily SMTP relay limit exceeded for customer. For more\r\n550 5.7.1  visit x.example\r\n',
        },
      },
      { kind: 'throttled', afterMs: 600_000, providerCode: '550 5.7.1' },
    ],
    [
      'mail: submission quota of the sender exceeded',
      { end: { reply: '554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; no' } },
      { kind: 'throttled', afterMs: 600_000, providerCode: '554 5.2.0' },
    ],
    [
      'recipient: sending quota of the sender exceeded',
      {
        rcpt: { reply: '550 5.4.5 <a@b.example>: Recipient address rejected: Domain Sending Quota Exceeded' },
      },
      { kind: 'throttled', afterMs: 600_000, providerCode: '550 5.4.5' },
    ],
    [
      'recipient: recipients of the sender exceed the daily limit',
      {
        rcpt: {
          reply:
            "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
        },
      },
      { kind: 'throttled', afterMs: 600_000, providerCode: '550 5.1.90' },
    ],
    [
      'mail: rate limit of the sender exceeded',
      { end: { reply: '550 5.4.6 mail rate exceeded limit' } },
      { kind: 'throttled', afterMs: 600_000, providerCode: '550 5.4.6' },
    ],
    [
      'recipient: daily limit of the recipient exceeded',
      { rcpt: { reply: '550 5.2.1 Daily receiving limit exceeded' } },
      { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '550 5.2.1' },
    ],
    [
      'mail: temporary failure with 454, a status code of logins',
      { end: { reply: '454 4.3.0 later' } },
      { kind: 'retry', detail: 'The server answered: 454 4.3.0 later' },
    ],
    [
      'sender: rejected',
      { mail: { reply: '550 5.1.8 no' } },
      { kind: 'rejected', code: 'SENDER_REJECTED', providerCode: '550 5.1.8' },
    ],
    [
      'sender: temporary failure',
      { mail: { reply: '451 4.3.0 later' } },
      { kind: 'retry', providerCode: '451 4.3.0' },
    ],
    ['sender: login required', { mail: { reply: '530 5.7.0 log in' } }, { kind: 'retry' }],
    [
      'sender: size limit exceeded',
      { mail: { reply: '552 5.3.4 big' } },
      { kind: 'rejected', code: 'MESSAGE_REJECTED' },
    ],
    ['sender: connection reset', { mail: 'reset' }, { kind: 'retry' }],
    [
      'sender: rejected, then disconnected',
      { mail: { raw: '550 5.1.8 no\r\n', cut: true } },
      { kind: 'rejected', code: 'SENDER_REJECTED', providerCode: '550 5.1.8' },
    ],
    [
      'recipient: unknown',
      { rcpt: { reply: '550 5.1.1 who' } },
      { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '550 5.1.1' },
    ],
    [
      'recipient: rejected without an enhanced status code',
      { rcpt: { reply: '553 who' } },
      { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '553' },
    ],
    [
      'recipient: greylisted',
      { rcpt: { reply: '451 4.7.1 greylisted' } },
      { kind: 'retry', afterMs: 60_000 },
    ],
    ['recipient: mailbox full', { rcpt: { reply: '452 4.2.2 full' } }, { kind: 'retry', afterMs: 60_000 }],
    ['recipient: connection reset', { rcpt: 'reset' }, { kind: 'retry' }],
    [
      'recipient: rejected, then disconnected',
      { rcpt: { raw: '521 5.3.2 go away\r\n', cut: true } },
      { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '521 5.3.2' },
    ],
    [
      'recipient: rejected, then the closing reply 421',
      { rcpt: { raw: '550 5.1.1 who\r\n421 4.7.0 too many errors\r\n', cut: true } },
      { kind: 'rejected', code: 'RECIPIENT_REJECTED', providerCode: '550 5.1.1' },
    ],
    [
      'recipient: greylisted, then disconnected',
      { rcpt: { raw: '450 4.7.1 later\r\n', cut: true } },
      { kind: 'retry', afterMs: 60_000, providerCode: '450 4.7.1' },
    ],
    [
      'recipient: closing reply 421',
      { rcpt: { raw: '421 4.3.2 bye\r\n', cut: true } },
      { kind: 'retry', providerCode: '421 4.3.2' },
    ],
    ['recipient: invalid reply', { rcpt: { raw: '???\r\n', cut: true } }, { kind: 'retry' }],
    [
      'mail: rejected',
      { end: { reply: '554 5.7.1 spam' } },
      { kind: 'rejected', code: 'MESSAGE_REJECTED', providerCode: '554 5.7.1' },
    ],
    ['mail: temporary failure', { end: { reply: '451 4.3.0 later' } }, { kind: 'retry' }],
    ['mail: closing reply 421', { end: { reply: '421 4.3.2 bye' } }, { kind: 'retry' }],
    ['mail: disconnected without a reply', { end: { raw: '', cut: true } }, { kind: 'unknown' }],
    ['mail: connection reset', { end: 'reset' }, { kind: 'unknown' }],
    ['mail: truncated positive reply', { end: { raw: '250 2.0.0 O', cut: true } }, { kind: 'unknown' }],
    ['mail: truncated negative reply', { end: { raw: '554 5.7.1 n', cut: true } }, { kind: 'unknown' }],
    [
      'mail: unfinished reply of several lines',
      { end: { raw: '250-yes\r\n', cut: true } },
      { kind: 'unknown' },
    ],
    [
      'mail: text without a status code',
      { end: { raw: 'hello\r\n' } },
      { kind: 'unknown', detail: 'The server’s reply to the mail is neither a valid success nor a refusal.' },
    ],
    ['mail: unexpected reply 354', { end: { raw: '354 go on\r\n' } }, { kind: 'unknown' }],
    ['mail: a single digit in place of a status code', { end: { raw: '2 be\r\n' } }, { kind: 'unknown' }],
    ['mail: accepted, then refused', { end: { raw: '250-yes\r\n554 no\r\n' } }, { kind: 'unknown' }],
    ['mail: refused, then accepted', { end: { raw: '554-no\r\n250 yes\r\n' } }, { kind: 'unknown' }],
    [
      'mail: accepted in several lines',
      { end: { raw: '250-2.0.0 yes\r\n250 queued\r\n' } },
      { kind: 'accepted' },
    ],
    ['mail: accepted', {}, { kind: 'accepted' }],
  ])('determine the outcome (%s)', async (_name, script, expected) => {
    const { link } = await start(script, { user: 'u', password: 'the-password-here' })
    const outcome = await send(link)
    expect(outcome).toMatchObject(expected)
    expect(JSON.stringify(outcome)).not.toContain('the-password-here')
  })

  test('a connection that is reset in the middle of a mail ends in retry', async () => {
    const { link, peer } = await start({ data: 'reset' })
    const big = file(async () => Readable.from([Buffer.alloc(8 * 1024 * 1024, 'x')]))
    expect(await send(link, { files: [big] })).toMatchObject({ kind: 'retry' })
    expect(peer.received).toEqual([])
  })

  test('a host name that does not exist ends in retry', async () => {
    const { link } = await start({}, { host: 'mail.invalid' })
    expect(await send(link)).toMatchObject({
      kind: 'retry',
      detail: expect.stringContaining('did not reach'),
    })
  })

  test('the outcome of a one-time code keeps only the status codes of the reply, not its text', async () => {
    const script = { end: { reply: '554 5.7.1 looks like spam: Your code is 471100' } }
    const { link } = await start(script)
    const otp = await send(link, { messageType: 'otp', subject: 'Your code is 471100' })
    expect(otp).toMatchObject({ kind: 'rejected', detail: 'The server answered: 554 5.7.1' })
    const other = await send(link, { subject: 'x' })
    expect(other).toMatchObject({
      detail: 'The server answered: 554 5.7.1 looks like spam: Your code is 471100',
    })
  })
})

describe('the caller’s signal', () => {
  test.each<[string, SmtpScript, 'retry' | 'unknown']>([
    ['before the greeting', { connect: 'silent' }, 'retry'],
    ['during the login', { auth: 'silent' }, 'retry'],
    ['before the reply to the sender', { mail: 'silent' }, 'retry'],
    ['before the reply to the recipient', { rcpt: 'silent' }, 'retry'],
    ['before the reply to the mail', { end: 'silent' }, 'unknown'],
  ])('aborts a send %s', async (_name, script, kind) => {
    const reached = Promise.withResolvers<void>()
    const [point] = Object.keys(script) as (keyof SmtpScript)[]
    const step = () => {
      reached.resolve()
      return 'silent' as const
    }
    const { link, peer } = await start({ [point!]: step }, { user: 'u', password: 'p' })
    const stop = new AbortController()
    const outcome = link.send(outgoing(1), stop.signal)
    await settled(reached.promise, 'the step')
    stop.abort()
    expect((await settled(outcome, 'send()')).kind).toBe(kind)
    await settled(peer.idle(), 'the connection')
  })

  test('closes a file that is being read, and no connection is opened', async () => {
    const { link, peer } = await start()
    const reading = Promise.withResolvers<void>()
    const stream = new Readable({ read: () => reading.resolve() })
    const closed = new Promise(resolve => stream.once('close', resolve))
    const stop = new AbortController()
    const outcome = link.send(outgoing(1, { files: [file(async () => stream)] }), stop.signal)
    await settled(reading.promise, 'reading')
    stop.abort()
    expect((await settled(outcome, 'send()')).kind).toBe('retry')
    await settled(closed, 'the file')
    expect(peer.connections()).toBe(0)
  })

  test('close() ends a send whose file is being read in retry', async () => {
    const { link } = await start()
    const reading = Promise.withResolvers<void>()
    const stream = new Readable({ read: () => reading.resolve() })
    const outcome = link.send(outgoing(1, { files: [file(async () => stream)] }), never())
    await settled(reading.promise, 'reading')
    await settled(link.close(), 'close()')
    expect((await settled(outcome, 'send()')).kind).toBe('retry')
  })

  test('ends a mail that waits for a connection in retry, and it is not sent', async () => {
    const { link, peer } = await start({ end: 'silent' }, { maxConnections: 1 })
    const stop = new AbortController()
    const first = link.send(outgoing(1), stop.signal)
    await settled(peer.submitted(1), 'the first mail')
    const second = link.send(outgoing(2), stop.signal)
    stop.abort()
    expect(await settled(first, 'the first')).toMatchObject({ kind: 'unknown' })
    expect(await settled(second, 'the second')).toMatchObject({ kind: 'retry' })
    expect(peer.received.length).toBe(1)
  })
})

describe('connections', () => {
  test('are reused for several mails, also after a rejected one', async () => {
    const { link, peer } = await start({ rcpt: nth => (nth === 2 ? { reply: '550 5.1.1 no' } : null) })
    const kinds: string[] = []
    for (let nth = 1; nth <= 4; nth++) kinds.push((await send(link)).kind)
    expect(kinds).toEqual(['accepted', 'rejected', 'accepted', 'accepted'])
    expect(peer.connections()).toBe(1)
  })

  test('are reported as up when the server disconnects after rejecting a mail', async () => {
    const { link, io } = await start({ rcpt: { raw: '550 5.1.1 who\r\n', cut: true } })
    expect((await send(link)).kind).toBe('rejected')
    expect(io.reports.map(one => one.state)).toEqual(['connecting', 'up'])
  })

  test('that the server closes while they are idle are replaced, and no mail fails', async () => {
    const { link, peer } = await start()
    expect((await send(link)).kind).toBe('accepted')
    peer.hangUp()
    await settled(peer.idle(), 'the idle connection')
    expect((await send(link)).kind).toBe('accepted')
    expect(peer.connections()).toBe(2)
    expect(peer.received.length).toBe(2)
  })

  test('greet the server with the configured name, or else with that of the host', async () => {
    const names: string[] = []
    const options = {
      onMailFrom: (_address: unknown, session: { hostNameAppearsAs: string }, done: () => void) => {
        names.push(session.hostNameAppearsAs)
        done()
      },
    }
    for (const ehloName of ['mail.example.org', undefined]) {
      const { link } = await start({}, ehloName === undefined ? {} : { ehloName }, options)
      expect((await send(link)).kind).toBe('accepted')
    }
    expect(names).toEqual(['mail.example.org', hostname().includes('.') ? hostname() : '[127.0.0.1]'])
  })

  test('never exceed the configured number', async () => {
    const { link, peer } = await start({}, { maxConnections: 2 })
    expect(link.concurrency).toBe(2)
    const sends = Array.from({ length: 30 }, (_, nth) => link.send(outgoing(nth), never()))
    const outcomes = await settled(Promise.all(sends), 'the sends')
    expect(outcomes.every(one => one.kind === 'accepted')).toBe(true)
    expect(peer.connections()).toBe(2)
  })

  test('are reported once each as down and as up', async () => {
    const { link, io } = await start({ connect: nth => (nth === 1 ? 'reset' : null) })
    for (let nth = 1; nth <= 3; nth++) await send(link)
    expect(io.reports.map(one => one.state)).toEqual(['connecting', 'down', 'up'])
    expect(link.messagesPerSecond).toBeUndefined()
  })

  test.each<[string, SmtpScript]>([
    ['asks for a login at the sender', { mail: { reply: '530 5.7.0 log in' } }],
    ['asks for TLS at the recipient', { rcpt: { reply: '530 5.7.0 Must issue a STARTTLS command first' } }],
    ['asks for a login at the end of the mail', { end: { reply: '530 5.7.1 log in' } }],
    ['refuses the password', { auth: { reply: '535 5.7.8 wrong' } }],
  ])('are reported as down when the server %s', async (_, script) => {
    const login = 'auth' in script ? { user: 'sender', password: 'wrong' } : {}
    const { link, io } = await start(script, login)
    expect(await send(link)).toMatchObject({ kind: 'retry', detail: /login/ })
    expect(io.reports.map(one => one.state)).toEqual(['connecting', 'down'])
  })

  test.each<[string, SmtpScript]>([
    ['the login', { auth: { reply: '454 4.7.0 Throttling failure: Maximum sending rate exceeded.' } }],
    ['the connection', { connect: { reply: '421 4.3.2 Concurrent connections limit exceeded.' } }],
  ])('are not reported as down when the server throttles %s', async (_, script) => {
    const { link, io } = await start(script, { user: 'sender', password: 'right' })
    expect(await send(link)).toMatchObject({ kind: 'throttled' })
    expect(io.reports.map(one => one.state)).toEqual(['connecting', 'up'])
  })

  test('are not reported as down when one is lost after a whole mail', async () => {
    const { link, io } = await start({ end: 'reset' })
    expect(await send(link)).toMatchObject({ kind: 'unknown' })
    expect(io.reports.map(one => one.state)).toEqual(['connecting'])
  })
})

describe('TLS and login', () => {
  const trusted = createCertificate(['127.0.0.1'])
  const foreign = createCertificate(['mail.example.net'])

  test('nothing is sent to a server with an untrusted certificate or one for another host', async () => {
    const unknown = await start({}, { secure: true, user: 'u', password: 'p' }, { secure: true, ...trusted })
    expect(await send(unknown.link)).toMatchObject({ kind: 'retry' })
    const wrong = await start({}, { secure: true, tlsCa: foreign.cert }, { secure: true, ...foreign })
    expect(await send(wrong.link)).toMatchObject({ kind: 'retry' })
    expect([...unknown.peer.received, ...wrong.peer.received]).toEqual([])
    expect(await wrong.link.test!(never())).toMatchObject({ ok: false })
  })

  test.each([
    ['from the start', true],
    ['by STARTTLS', false],
  ])('TLS %s, with login', async (_name, secure) => {
    const config = { secure, requireTls: true, tlsCa: trusted.cert, user: 'u', password: 'pass' }
    const { link, peer } = await start({}, config, { secure, ...trusted, allowInsecureAuth: false })
    expect(await link.test!(never())).toEqual({
      ok: true,
      detail: 'The server answers and accepts the login.',
    })
    expect((await send(link)).kind).toBe('accepted')
    expect(peer.received[0]).toMatchObject({ secure: true, user: 'u:pass' })
  })

  test('requireTls sends no password to a server that does not offer TLS', async () => {
    let logins = 0
    const script: SmtpScript = {
      auth: () => {
        logins++
        return null
      },
    }
    const { link, peer } = await start(script, { requireTls: true, user: 'u', password: 'p' })
    expect(await send(link)).toMatchObject({ kind: 'retry' })
    expect(await link.test!(never())).toMatchObject({ ok: false })
    expect({ logins, received: peer.received }).toEqual({ logins: 0, received: [] })
  })

  test('a password without requireTls logs a warning', async () => {
    const plain = await start({}, { user: 'u', password: 'p' })
    expect(plain.io.logged).toHaveLength(1)
    const tls = await start({}, { user: 'u', password: 'p', requireTls: true })
    expect(tls.io.logged).toEqual([])
  })

  test('test() returns the fault without the password, or ok', async () => {
    const { link } = await start(
      { auth: { reply: '535 5.7.8 the password p4ssw0rd is wrong' } },
      { user: 'u', password: 'p4ssw0rd' },
    )
    expect(await link.test!(never())).toEqual({ ok: false, detail: 'EAUTH, reply 535' })
    const open = await start()
    expect(await open.link.test!(never())).toEqual({ ok: true, detail: 'The server answers.' })
  })
})

describe('the mail', () => {
  test('has an id, a date, a sender and an envelope', async () => {
    const { link, peer } = await start()
    const outcome = await send(link, { attemptId: 'msg_abc.2' })
    expect(outcome).toMatchObject({
      kind: 'accepted',
      providerId: 'msg_abc.2@example.org',
      code: expect.stringMatching(/^250 /),
    })
    const head = headOf(peer)
    expect(head).toContain('Message-ID: <msg_abc.2@example.org>')
    expect(head).toContain('Date: Tue, 03 Feb 2026 04:05:06 +0000')
    expect(head).toContain('From: Posthorn <no-reply@example.org>')
    expect(head).not.toContain('Auto-Submitted')
    expect(head).not.toContain('DKIM-Signature')
    expect(peer.received[0]).toMatchObject({ from: 'no-reply@example.org', to: ['someone@example.com'] })
  })

  test('has the sender of the message, and is marked as auto-generated for a one-time code', async () => {
    const { link, peer } = await start()
    await send(link, { from: 'Shop <shop@bücher.example>', messageType: 'otp' })
    expect(peer.envelopes[0]).toMatch('MAIL FROM:<shop@xn--bcher-kva.example>')
    expect(headOf(peer)).toMatch(/^From: Shop <shop@xn--bcher-kva\.example>/m)
    expect(headOf(peer)).toMatch(/^Auto-Submitted: auto-generated/m)
    expect(await send(link, { from: 'nobody' })).toMatchObject({ kind: 'rejected', code: 'SENDER_REJECTED' })
  })

  test('has international domains in punycode, and uses SMTPUTF8 for a local part beyond ASCII', async () => {
    const { link, peer } = await start({}, {}, { hideSMTPUTF8: false })
    await send(link, { to: 'user@bücher.example' })
    await send(link, { to: 'jürgen@bücher.example' })
    expect(peer.envelopes.filter(line => line.startsWith('RCPT')).map(line => line.trim())).toEqual([
      'RCPT TO:<user@xn--bcher-kva.example>',
      'RCPT TO:<jürgen@xn--bcher-kva.example>',
    ])
    expect(peer.received.map(one => 'SMTPUTF8' in one.mailArgs)).toEqual([false, true])
  })

  test('to a non-ASCII address is rejected without SMTPUTF8, which is checked once in ten minutes', async () => {
    const { link, peer, io } = await start({}, {}, { hideSMTPUTF8: true })
    const refused = {
      kind: 'rejected',
      code: 'RECIPIENT_REJECTED',
      detail: 'The recipient’s address is not ASCII, and the server does not support SMTPUTF8.',
    }
    const burst = Array.from({ length: 5 }, (_, nth) =>
      link.send(outgoing(nth, { to: 'jürgen@example.com' }), never()),
    )
    expect(await settled(Promise.all(burst), 'the sends')).toEqual(burst.map(() => refused))
    expect([peer.connections(), peer.envelopes]).toEqual([1, []])
    expect(await send(link, { from: 'jürgen@example.org' })).toMatchObject({ code: 'SENDER_REJECTED' })
    expect((await send(link, { to: 'user@bücher.example' })).kind).toBe('accepted')
    expect(await send(link, { to: 'jürgen@example.com' })).toEqual(refused)
    expect(peer.connections()).toBe(2)
    await io.clock.advance(10 * 60_000)
    expect(await send(link, { to: 'jürgen@example.com' })).toEqual(refused)
    expect([peer.connections(), peer.received.length]).toEqual([3, 1])
  })

  test('to a non-ASCII address is rejected when the server announced no SMTPUTF8 after STARTTLS', async () => {
    const certificate = createCertificate(['127.0.0.1'])
    const { link, peer } = await start(
      {},
      { requireTls: true, tlsCa: certificate.cert },
      { ...certificate, hideSMTPUTF8: true },
    )
    expect((await send(link)).kind).toBe('accepted')
    expect(await send(link, { to: 'jürgen@example.com' })).toMatchObject({ code: 'RECIPIENT_REJECTED' })
    expect(peer.connections()).toBe(1)
  })

  test.each<[string, SmtpScript]>([
    ['is busy', { connect: { reply: '421 4.3.2 busy' } }],
    ['resets the connection', { connect: 'reset' }],
    ['refuses the connection with 554', { connect: { reply: '554 5.7.1 go away' } }],
  ])(
    'to a non-ASCII address ends in retry when the server %s during the check for SMTPUTF8',
    async (_, script) => {
      const { link, io } = await start(script, {}, { hideSMTPUTF8: true })
      expect(await send(link, { to: 'jürgen@example.com' })).toMatchObject({ kind: 'retry' })
      expect(io.reports.map(one => one.state)).toEqual(['connecting', 'down'])
    },
  )

  test('to a non-ASCII address ends in retry when its signal aborts during the check for SMTPUTF8', async () => {
    const reached = Promise.withResolvers<void>()
    const step = () => {
      reached.resolve()
      return 'silent' as const
    }
    const { link, peer } = await start({ connect: step })
    const stop = new AbortController()
    const sends = [1, 2].map(nth => link.send(outgoing(nth, { to: 'jürgen@example.com' }), stop.signal))
    await settled(reached.promise, 'the step')
    stop.abort()
    const outcomes = await settled(Promise.all(sends), 'the sends')
    expect(outcomes.map(({ kind }) => kind)).toEqual(['retry', 'retry'])
    expect(peer.connections()).toBe(1)
  })

  test('has no header or recipient injected by line breaks in a field', async () => {
    const { link, peer } = await start()
    const evil = 'x\r\nBcc: victim@example.net\r\nX-Evil: 1\r\n\r\nbody'
    const outcome = await send(link, {
      subject: evil,
      from: 'Evil\r\nBcc victim <no-reply@example.org>',
      files: [
        file(async () => Readable.from(['x']), {
          fileName: `${evil}.pdf`,
          mimetype: `text/plain\r\nX-Evil: 1`,
        }),
      ],
    })
    expect(outcome).toMatchObject({ kind: 'accepted' })
    const lines = peer.received[0]!.bytes.toString('latin1').split('\r\n')
    expect(lines.filter(line => /^(?:bcc|x-evil):/i.test(line))).toEqual([])
    expect(peer.received[0]!.to).toEqual(['someone@example.com'])
    for (const to of [
      'a@b.example\r\nRCPT TO:<c@d.example>',
      'a@b.example, c@d.example',
      '<a@b.example>',
      'nobody',
    ]) {
      expect(await send(link, { to })).toMatchObject({ kind: 'rejected', code: 'RECIPIENT_REJECTED' })
    }
    expect(peer.received.length).toBe(1)
  })

  test.each([
    ['text that looks like an encoded word', '=?utf-8?Q?free?= of charge'],
    ['text with the start of an encoded word', 'What =? 😀'],
    ['a very long word', `Key ${'x'.repeat(4_000)}`],
    ['characters of several bytes', `=?${'مرحبا😀'.repeat(40)}`],
  ])('has a subject that decodes to the original: %s', async (_, subject) => {
    const { link, peer } = await start()
    expect(await send(link, { subject })).toMatchObject({ kind: 'accepted' })
    const lines = peer.received[0]!.bytes.toString('latin1').split('\r\n')
    const words = lines
      .join('\n')
      .match(/^Subject:(.*(?:\n[ \t].*)*)/m)![1]!
      .trim()
      .split(/\s+/)
    expect(Math.max(...words.map(word => word.length))).toBeLessThanOrEqual(75)
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(998)
    const read = words.map(word =>
      Buffer.from(/^=\?UTF-8\?B\?(\S+)\?=$/.exec(word)![1]!, 'base64').toString(),
    )
    expect(read.join('')).toBe(subject)
  })

  test.each(['message/rfc822', 'Message/Partial', 'multipart/mixed; boundary=x'])(
    'contains a file of type %s in base64, as application/octet-stream',
    async mimetype => {
      const { link, peer } = await start()
      const inner = Buffer.from('Subject: inner\n\nbody\n.\nMAIL FROM:<a@b.example>\r')
      const given = file(async () => Readable.from([inner]), { fileName: 'a.eml', mimetype })
      expect(await send(link, { files: [given] })).toMatchObject({ kind: 'accepted' })
      const mail = peer.received[0]!.bytes.toString('latin1')
      expect(mail).toContain('Content-Type: application/octet-stream; name=a.eml\r\n')
      expect(mail.replaceAll('\r\n', '')).toContain(inner.toString('base64'))
      expect(mail).not.toContain('Subject: inner')
    },
  )

  test('is rejected unsent when it is larger than the size that the server announces', async () => {
    const { link, peer } = await start({}, {}, { size: 2_000 })
    expect(await send(link, { text: 'x'.repeat(5_000) })).toMatchObject({
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
    })
    expect((await send(link)).kind).toBe('accepted')
    expect(peer.received.length).toBe(1)
  })
})

test.each([false, true])('a text with a lone CR or LF has a valid signature (HTML: %s)', async html => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string
  const dkim = { domainName: 'example.org', keySelector: 's1', privateKey }
  const { link, peer } = await start({}, { dkim })
  await send(link, { text: 'One\rtwo\r\nthree\nfour\r.\rfive', html })
  const { bytes } = peer.received[0]!
  expect(bytes.toString('latin1')).toContain('One\r\ntwo\r\nthree\r\nfour\r\n.\r\nfive')
  expect(verifyDkim(bytes, publicKey)).toMatchObject({ ok: true, why: '' })
})

describe('unavailable files, for which no connection is opened', () => {
  const broken = (error: Error) =>
    file(async () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('half')
          throw error
        })(),
      ),
    )

  test.each<[string, OutgoingFile, Partial<Outcome>]>([
    [
      'permanently unavailable',
      file(() => Promise.reject(new FileUnavailable('gone', false))),
      { kind: 'rejected', code: 'MESSAGE_REJECTED' },
    ],
    [
      'temporarily unavailable',
      file(() => Promise.reject(new FileUnavailable('later', true))),
      { kind: 'retry', notAsked: true },
    ],
    [
      'permanent failure while reading',
      broken(new FileUnavailable('too large', false)),
      { kind: 'rejected', code: 'MESSAGE_REJECTED' },
    ],
    [
      'temporary failure while reading',
      broken(new FileUnavailable('cut', true)),
      { kind: 'retry', notAsked: true },
    ],
    ['other error while reading', broken(new Error('secret path /x')), { kind: 'retry' }],
  ])('decide the outcome: %s', async (_name, bad, expected) => {
    const { link, peer } = await start()
    const stream = Readable.from(['ok'])
    const closed = new Promise(resolve => stream.once('close', resolve))
    const good = file(async () => stream)
    const outcome = await send(link, { files: [good, bad] })
    expect(outcome).toMatchObject(expected)
    expect(JSON.stringify(outcome)).not.toContain('secret path')
    await settled(closed, 'the good file')
    expect(peer.connections()).toBe(0)
  })

  test('at most three mails of unknown size are built at once; small ones pass, waiting ones can be aborted', async () => {
    const { link, peer } = await start()
    const gate = Promise.withResolvers<void>()
    let opened = 0
    const slow = file(async () => {
      opened++
      await gate.promise
      return Readable.from([Buffer.from('x')])
    })
    const stop = new AbortController()
    const large = Array.from({ length: 6 }, (_, nth) =>
      link.send(outgoing(nth + 1, { files: [slow] }), nth === 5 ? stop.signal : never()),
    )
    expect(await settled(link.send(outgoing(9), never()), 'a mail without files')).toMatchObject({
      kind: 'accepted',
    })
    expect(opened).toBe(3)
    stop.abort()
    expect(await settled(large[5]!, 'the one that was stopped')).toMatchObject({ kind: 'retry' })
    gate.resolve()
    const outcomes = await settled(Promise.all(large.slice(0, 5)), 'the others')
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']))
    expect([opened, peer.received.length]).toEqual([5, 6])
  })

  test('a file without an end is rejected at the maximum size of a mail', async () => {
    const { link, peer } = await start()
    const piece = Buffer.alloc(1024 * 1024)
    const endless = new Readable({
      read() {
        this.push(piece)
      },
    })
    const closed = new Promise(resolve => endless.once('close', resolve))
    const outcome = await send(link, { files: [file(async () => endless)] })
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
    await settled(closed, 'the file')
    expect(peer.connections()).toBe(0)
  })
})
