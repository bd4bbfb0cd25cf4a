import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VerificationAttempt } from '../../../src/contract/verification.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { startSmsGateway } from '../../support/gateways.ts'
import { startSmsc } from '../../support/smsc.ts'
import {
  codeFor,
  nextPhone,
  type Verifications,
  verifications,
  wrongCode,
} from '../../support/verification.ts'

let app: TestApp
let account: TestAccount
let ver: Verifications

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  ver = verifications(app, account)
})
afterAll(() => app.stop())

const MINUTE_MS = 60_000
const sinceNow = (iso: unknown) => Date.parse(iso as string) - app.now()

/** Allows a tolerance, since a response takes time. */
function expectAbout(ms: number, expectedMs: number): void {
  expect(ms).toBeLessThanOrEqual(expectedMs)
  expect(ms).toBeGreaterThan(expectedMs - 5_000)
}

test('a code is sent, checked, and valid only once', async () => {
  const to = nextPhone()
  const sent = await ver.post('send', { to })
  expect(sent.status).toBe(200)
  expect(sent.headers.get('x-sandbox')).toBe('true')
  expect(sent.headers.get('ratelimit')).toMatch(/^"verification_send"/)
  expect(sent.body).toEqual({
    success: true,
    verificationId: expect.stringMatching(/^ver_[0-9a-z]{26}$/),
    status: 'sent',
    channel: 'local_sms',
    expiresAt: expect.stringMatching(/Z$/),
    resendAvailableAt: expect.stringMatching(/Z$/),
    resendCount: 0,
  })
  expectAbout(sinceNow(sent.body['expiresAt']), 10 * MINUTE_MS)
  expectAbout(sinceNow(sent.body['resendAvailableAt']), MINUTE_MS)

  const code = await codeFor(account, to)
  expect(code).toMatch(/^\d{6}$/)
  const { verificationId } = sent.body as VerificationAttempt
  expect(await ver.post('verify', { verificationId, code: wrongCode(code) })).toMatchObject({
    status: 400,
    body: { success: false, code: 'VERIFICATION_CODE_INVALID', attemptsRemaining: 4 },
  })
  const verified = await ver.post('verify', { to, code })
  expect(verified.status).toBe(200)
  expect(verified.body).toEqual({
    success: true,
    verificationId,
    status: 'verified',
    verifiedAt: expect.stringMatching(/Z$/),
  })
  for (const which of [{ verificationId }, { to }, { to, verificationId }]) {
    for (const given of [code, wrongCode(code)]) {
      expect(await ver.post('verify', { ...which, code: given })).toMatchObject({
        status: 409,
        body: { code: 'VERIFICATION_ALREADY_USED' },
      })
    }
  }
  expect(await ver.read(verificationId)).toMatchObject({
    verificationId,
    mode: 'test',
    status: 'verified',
    to,
    country: 'US',
    channel: 'local_sms',
    attemptsRemaining: 4,
    resendCount: 0,
    resendAvailableAt: null,
    verifiedAt: verified.body['verifiedAt'],
  })
})

describe('a verification code', () => {
  test.each([
    ['spaces and hyphens', (code: string) => ` ${code.slice(0, 3)} - ${code.slice(3)} `],
    ['Arabic-Indic digits', (code: string) => inDigits(code, '٠')],
    ['Persian digits', (code: string) => inDigits(code, '۰')],
    ['Devanagari digits', (code: string) => inDigits(code, '०')],
    ['full-width digits', (code: string) => inDigits(code, '０')],
  ])('may be written with %s', async (_, write) => {
    const to = nextPhone()
    await ver.start({ to })
    const code = write(await codeFor(account, to))
    expect(await ver.post('verify', { to, code })).toMatchObject({ status: 200 })
  })

  test('is not contained in message lists, log, metrics or database', async () => {
    const to = nextPhone()
    const { verificationId } = await ver.start({ to })
    const code = await codeFor(account, to)
    const [message] = await account.messages(`?to=${encodeURIComponent(to)}`)
    expect(message).toMatchObject({ messageType: 'otp', text: '••••••' })
    await ver.post('verify', { verificationId, code: wrongCode(code) })
    await ver.post('verify', { verificationId, code })
    const shown = [
      JSON.stringify(message),
      JSON.stringify(await account.message(message!.messageId)),
      JSON.stringify(await ver.read(verificationId)),
      (await app.call('/metrics')).text,
      ...app.log,
    ]
    expect(shown.filter(text => new RegExp(`(^|[^0-9.])${code}([^0-9]|$)`).test(text))).toEqual([])
    // Only the sandbox's inbox, which shows what the recipient reads, stores the code.
    const { rows } = await app.db.query<{ found: number }>({
      name: 'find_code',
      text: `select (select count(*) from verifications v where v::text ~ $1)::integer
                  + (select count(*) from messages m where m::text ~ $1)::integer
                  + (select count(*) from outbox where message_id = $2)::integer as found`,
      // Hashes and ids may contain any digits.
      values: [`(^|[^0-9a-f.])${code}([^0-9a-f]|$)`, toUuid(message!.messageId as `msg_${string}`)],
    })
    expect(rows[0]!.found).toBe(0)
  })
})

describe('wrong codes', () => {
  test('use up the five attempts; then no code is accepted until the verification expires', async () => {
    const to = nextPhone()
    const { verificationId } = await ver.start({ to })
    const code = await codeFor(account, to)
    for (const left of [4, 3, 2, 1, 0]) {
      const which = left % 2 === 0 ? { verificationId } : { to }
      expect(await ver.post('verify', { ...which, code: wrongCode(code, left + 1) })).toMatchObject({
        status: 400,
        body: { code: 'VERIFICATION_CODE_INVALID', attemptsRemaining: left },
      })
    }
    for (const which of [{ verificationId }, { to }]) {
      const answer = await ver.post('verify', { ...which, code })
      expect(answer).toMatchObject({ status: 429, body: { code: 'VERIFICATION_ATTEMPTS_EXHAUSTED' } })
      const seconds = answer.body['retryAfterSeconds'] as number
      expect(answer.headers.get('retry-after')).toBe(String(seconds))
      expectAbout(seconds * 1_000, 10 * MINUTE_MS)
    }
    expect(await ver.post('resend', { verificationId })).toMatchObject({
      status: 429,
      body: { code: 'VERIFICATION_ATTEMPTS_EXHAUSTED' },
    })
    expect(await ver.read(verificationId)).toMatchObject({ status: 'exhausted', attemptsRemaining: 0 })

    await app.leap(10 * MINUTE_MS)
    expect(await ver.post('verify', { to, code })).toMatchObject({
      status: 400,
      body: { code: 'VERIFICATION_EXPIRED' },
    })
    await ver.start({ to })
    expect(await ver.post('verify', { to, code: await codeFor(account, to) })).toMatchObject({ status: 200 })
  })

  test('with an invalid format count no attempt', async () => {
    const to = nextPhone()
    await ver.start({ to })
    for (const code of ['12345a', '123', '123456789', 'abcdef', '١٢٣', '12.456', ' - ']) {
      const answer = await ver.post('verify', { to, code })
      expect(answer, code).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR', details: [{ path: 'code' }] },
      })
    }
    // A code of another length counts as a wrong code.
    expect(await ver.post('verify', { to, code: '1234' })).toMatchObject({
      body: { code: 'VERIFICATION_CODE_INVALID', attemptsRemaining: 4 },
    })
  })
})

test('a code expires exactly at expiresAt', async () => {
  const to = nextPhone()
  const { verificationId, expiresAt } = await ver.start({ to })
  const code = await codeFor(account, to)
  await app.leap(Date.parse(expiresAt) - app.now() - 30_000)
  expect(await ver.post('verify', { to, code: wrongCode(code) })).toMatchObject({
    body: { attemptsRemaining: 4 },
  })
  await app.leap(30_000)
  for (const which of [{ verificationId }, { to }]) {
    expect(await ver.post('verify', { ...which, code })).toMatchObject({
      status: 400,
      body: { code: 'VERIFICATION_EXPIRED' },
    })
    expect(await ver.post('resend', which)).toMatchObject({
      status: 400,
      body: { code: 'VERIFICATION_EXPIRED' },
    })
  }
  // It cannot be resent any more.
  expect(await ver.read(verificationId)).toMatchObject({ status: 'expired', resendAvailableAt: null })
})

describe('a later verification', () => {
  test('supersedes the recipient’s earlier one, and no other recipient’s', async () => {
    const to = nextPhone()
    const other = nextPhone()
    const first = await ver.start({ to })
    const firstCode = await codeFor(account, to)
    await ver.start({ to: other })
    const second = await ver.start({ to })
    const secondCode = await codeFor(account, to)
    for (const operation of ['verify', 'resend'] as const) {
      const body = { verificationId: first.verificationId, code: firstCode }
      expect(await ver.post(operation, body)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    }
    expect(await ver.read(first.verificationId)).toMatchObject({ status: 'superseded' })
    expect(await ver.post('verify', { to, code: secondCode })).toMatchObject({
      status: 200,
      body: { verificationId: second.verificationId },
    })
    expect(await ver.post('verify', { to: other, code: await codeFor(account, other) })).toMatchObject({
      status: 200,
    })
  })

  test('compares e-mail addresses without regard to case', async () => {
    const first = await ver.start({ to: 'Mail.Case@Example.com' })
    expect(first.channel).toBe('email_user')
    const second = await ver.start({ to: 'mail.case@example.com' })
    const code = await codeFor(account, 'mail.case@example.com')
    expect(await ver.read(first.verificationId)).toMatchObject({ status: 'superseded' })
    expect(await ver.post('verify', { to: 'MAIL.CASE@EXAMPLE.COM', code })).toMatchObject({
      status: 200,
      body: { verificationId: second.verificationId },
    })
  })

  test('does not change a verified one', async () => {
    const to = nextPhone()
    const { verificationId } = await ver.start({ to })
    const code = await codeFor(account, to)
    await ver.post('verify', { to, code })
    await ver.start({ to })
    expect(await ver.read(verificationId)).toMatchObject({ status: 'verified' })
    expect(await ver.post('verify', { verificationId, code })).toMatchObject({
      body: { code: 'VERIFICATION_ALREADY_USED' },
    })
  })

  test('does not affect one of the other key mode', async () => {
    const to = nextPhone()
    const { verificationId } = await ver.start({ to })
    const code = await codeFor(account, to)
    await ver.start({ to }, { live: true })
    expect(await ver.post('verify', { verificationId, code }, { live: true })).toMatchObject({ status: 404 })
    expect(await ver.post('verify', { to, code }, { live: true })).toMatchObject({
      body: { code: 'VERIFICATION_CODE_INVALID' },
    })
    expect(await ver.post('verify', { to, code })).toMatchObject({ status: 200 })
  })
})

describe('a resend', () => {
  test('sends a new code and voids the old one, at most five times, with increasing waits', async () => {
    const to = nextPhone()
    const { verificationId } = await ver.start({ to })
    let code = await codeFor(account, to)
    for (const [at, waitMs] of [60_000, 60_000, 120_000, 240_000, 300_000].entries()) {
      const early = await ver.post('resend', { verificationId })
      expect(early).toMatchObject({ status: 429, body: { code: 'RESEND_TOO_SOON' } })
      expectAbout((early.body['retryAfterSeconds'] as number) * 1_000, waitMs)
      await app.leap(waitMs)
      const again = await ver.post('resend', at % 2 === 0 ? { verificationId } : { to })
      expect(again).toMatchObject({
        status: 200,
        body: { success: true, verificationId, status: 'sent', channel: 'local_sms', resendCount: at + 1 },
      })
      expectAbout(sinceNow(again.body['expiresAt']), 10 * MINUTE_MS)
      const old = code
      code = await codeFor(account, to)
      // By chance the codes are the same once in a million.
      if (at === 0 && old !== code) {
        expect(await ver.post('verify', { to, code: old })).toMatchObject({ body: { attemptsRemaining: 4 } })
      }
    }
    const limit = await ver.post('resend', { to })
    expect(limit).toMatchObject({ status: 429, body: { code: 'RESEND_LIMIT' } })
    expectAbout((limit.body['retryAfterSeconds'] as number) * 1_000, 10 * MINUTE_MS)
    expect(await ver.read(verificationId)).toMatchObject({
      status: 'pending',
      resendCount: 5,
      resendAvailableAt: null,
      // Attempts count for the verification, not for each code.
      attemptsRemaining: 4,
    })
    expect((await ver.read(verificationId)).messageIds).toHaveLength(6)
    expect(await ver.post('verify', { verificationId, code })).toMatchObject({ status: 200 })
    expect(await ver.post('resend', { verificationId })).toMatchObject({
      status: 409,
      body: { code: 'VERIFICATION_ALREADY_USED' },
    })
  })

  test('is charged like any message', async () => {
    const rich = await app.createAccount()
    const own = verifications(app, rich)
    const to = nextPhone()
    const before = await rich.wallet()
    await own.start({ to, channel: 'local_sms' }, { live: true })
    const once = await rich.wallet()
    await app.leap(60_000)
    expect(await own.post('resend', { to }, { live: true })).toMatchObject({ status: 200 })
    const twice = await rich.wallet()
    const price = before.balance - once.balance
    expect(price).toBeGreaterThan(0)
    expect(once.balance - twice.balance).toBeCloseTo(price, 6)
  })
})

function inDigits(code: string, zero: string): string {
  return [...code].map(digit => String.fromCodePoint(zero.codePointAt(0)! + Number(digit))).join('')
}

describe('a code that is queued', () => {
  test('is cancelled when superseded, and its hold is released', async () => {
    const to = nextThrottledPhone()
    const first = await ver.start({ to }, { live: true })
    const second = await ver.start({ to }, { live: true })
    expect([first.status, second.status]).toEqual(['queued', 'queued'])
    const [later, earlier] = await app.until(
      () => account.messages(`?to=${encodeURIComponent(to)}`),
      all => all.every(({ status }) => status !== 'queued' && status !== 'sending'),
    )
    expect(earlier).toMatchObject({
      status: 'cancelled',
      errorMessage: 'its code was superseded or used up before the message could be sent',
      billing: { state: 'released' },
    })
    expect(later).toMatchObject({ billing: { state: 'captured' } })
    expect(await account.inbox(to)).toHaveLength(1)
  })

  test('expires, and its hold is released', async () => {
    const to = nextThrottledPhone()
    const { verificationId } = await ver.start({ to }, { live: true })
    // Waits for the sandbox's throttle, which would time out if the test clock leapt by minutes first.
    await app.until(
      () => account.messages(`?to=${encodeURIComponent(to)}`),
      ([only]) => only!.status === 'queued',
    )
    await app.leap(11 * MINUTE_MS)
    const [message] = await app.until(
      () => account.messages(`?to=${encodeURIComponent(to)}`),
      ([only]) => only!.status !== 'queued',
    )
    expect(message).toMatchObject({
      status: 'expired',
      errorCode: 'VERIFICATION_EXPIRED',
      billing: { state: 'released' },
    })
    expect((await account.message(message!.messageId)).timeline.at(-1)).toMatchObject({ status: 'expired' })
    expect(await account.inbox(to)).toEqual([])
    expect(await ver.read(verificationId)).toMatchObject({ status: 'expired' })
  })

  test('is cancelled when superseded while it waits for a rate-limited connection', async () => {
    const own = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
    const gateway = await startSmsGateway(app, { account: own, config: { messagesPerSecond: 1 } })
    try {
      const codes = verifications(app, own)
      const start = (to: string) => codes.start({ to, channel: 'local_sms' }, { live: true })
      const [others, to] = [Array.from({ length: 10 }, nextPhone), nextPhone()]
      // Each takes up one second of the connection's rate.
      await Promise.all(others.map(start))
      const first = await start(to)
      const second = await start(to)
      expect([first.status, second.status]).toEqual(['queued', 'queued'])
      const [later, earlier] = await app.until(
        () => own.messages(`?to=${encodeURIComponent(to)}`),
        all => all.every(({ status }) => status !== 'queued' && status !== 'sending'),
      )
      expect(earlier).toMatchObject({
        status: 'cancelled',
        errorMessage: 'its code was superseded or used up before the message could be sent',
        billing: { state: 'released' },
      })
      expect(later).toMatchObject({ status: 'sent', billing: { state: 'captured' } })
      expect(gateway.peer.requests.filter(({ body }) => body.includes(to))).toHaveLength(1)
    } finally {
      await gateway.close()
    }
  })

  test('does not fail over when superseded while a slow connection refuses it', async () => {
    const own = await app.createAccount()
    const smsc = await startSmsc('silent')
    await app.admin('POST', '/connections', {
      provider: 'smpp',
      name: 'slow centre',
      channels: ['local_sms'],
      accountId: own.id,
      priorityOrder: 1,
      config: { host: '127.0.0.1', port: smsc.port, systemId: 'me', password: 'secret' },
    })
    const gateway = await startSmsGateway(app, { account: own, priorityOrder: 2 })
    try {
      await smsc.bound(1)
      const to = nextPhone()
      const start = () => verifications(app, own).start({ to, channel: 'local_sms' }, { live: true })
      await start()
      await start()
      const [first, second] = smsc.submits
      for (const { sequence } of [second!, first!]) {
        smsc.send('submit_sm_resp', { sequence_number: sequence, command_status: RINVDSTADR })
      }
      const [later, earlier] = await app.until(
        () => own.messages(`?to=${encodeURIComponent(to)}`),
        all => all.every(({ status }) => status !== 'queued' && status !== 'sending'),
      )
      expect(later).toMatchObject({ status: 'sent', provider: 'http-sms', billing: { state: 'captured' } })
      expect(earlier).toMatchObject({
        status: 'cancelled',
        errorMessage: 'its code was superseded or used up before the message could be sent',
        billing: { state: 'released' },
      })
      expect(gateway.peer.requests).toHaveLength(1)
    } finally {
      await Promise.all([gateway.close(), smsc.close()])
    }
  })
})

const RINVDSTADR = 0x0b

let throttledPhones = 0
/** A number whose last four digits make the sandbox throttle the account's lane for five seconds. */
function nextThrottledPhone(): string {
  return `+1${312 + throttledPhones++}5550006`
}
