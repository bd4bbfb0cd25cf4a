import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { startChatGateway } from '../../support/gateways.ts'
import { codeFor, nextPhone, type Verifications, verifications } from '../../support/verification.ts'

let app: TestApp
let account: TestAccount
let ver: Verifications

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  ver = verifications(app, account)
})
afterAll(() => app.stop())

const UNKNOWN = 'ver_01m7zh2v4me8jr8s0w5b1yw1yh'

describe('POST /api/v2/verification/send rejects', () => {
  test('the chat app where it takes templates alone and there is none, in words of its own fields', async () => {
    const own = await app.createAccount({ balance: 100 })
    const gateway = await startChatGateway(app, { account: own, sendModeByType: {} })
    const answer = await verifications(app, own).post(
      'send',
      { to: nextPhone(), channel: 'official_chatapp' },
      { live: true },
    )
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body['details']).toEqual([
      { path: 'channel', message: expect.stringMatching(/^needs an approved template of subType otp/) },
    ])
    await gateway.close()
  })

  test.each([
    'sms',
    'whatsapp',
    'auto',
    'botapp_bot',
    'user_chatapp_session',
    'LOCAL_SMS',
    'voice',
    '',
    'v'.repeat(101),
  ])('channel %j', async channel => {
    const answer = await ver.post('send', { to: nextPhone(), channel })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, code: 'VALIDATION_ERROR' })
    expect(answer.body['details']).toEqual([{ path: 'channel', message: 'Unsupported verification channel' }])
  })

  const ALL = '12025550123'
  test.each([
    ['an empty body', {}, ['to']],
    ['no recipient', { channel: 'local_sms' }, ['to']],
    ['a recipient of the wrong type', { to: 12025550123 }, ['to']],
    ['several recipients', { to: ['+12025550123'] }, ['to']],
    ['an empty recipient', { to: '' }, ['to']],
    ['a number without its plus sign', { to: ALL }, ['to']],
    ['a group', { to: '12025550123-1600000000@g.us' }, ['to']],
    ['the name of a chat', { to: '@someone' }, ['to']],
    ['an e-mail address without a domain', { to: 'someone@' }, ['to']],
    ['an e-mail address for SMS', { to: 'someone@example.com', channel: 'local_sms' }, ['to']],
    [
      'an e-mail address for the chat app',
      { to: 'someone@example.com', channel: 'official_chatapp' },
      ['to'],
    ],
    ['a number for e-mail', { to: '+12025550123', channel: 'email_user' }, ['to']],
    ['local SMS abroad', { to: '+4915112345678', channel: 'local_sms' }, ['channel']],
    ['international SMS at home', { to: '+12025550123', channel: 'int_sms' }, ['channel']],
    ['a fixed line by SMS', { to: '+493012345678', channel: 'int_sms' }, ['to']],
    ['a toll-free number by SMS', { to: '+18005550199', channel: 'local_sms' }, ['to']],
    ['a channel of the wrong type', { to: '+12025550123', channel: 7 }, ['channel']],
    ['an unknown sender', { to: '+12025550123', senderId: 'snd_1' }, ['senderId']],
    ['an unknown sender in sender', { to: '+12025550123', sender: { id: 'snd_1' } }, ['sender.id']],
    ['a sender that is not an object', { to: '+12025550123', sender: 'Acme' }, ['sender']],
    [
      'an unknown official sender',
      { to: '+12025550123', channel: 'official_chatapp', officialSenderId: 'x' },
      ['officialSenderId'],
    ],
    ['an invalid clientIp', { to: '+12025550123', clientIp: '1.2.3' }, ['clientIp']],
    [
      'an idempotency key that is too long',
      { to: '+12025550123', idempotencyKey: 'k'.repeat(201) },
      ['idempotencyKey'],
    ],
  ])('%s', async (_, body, paths) => {
    const answer = await ver.post('send', body)
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_ERROR' } })
    expect(faultPaths(answer)).toEqual(paths)
  })

  test('all of the above without storing a message', async () => {
    expect(await account.footprint()).toMatchObject({ messages: 0, outbox: 0 })
  })

  test('an Idempotency-Key header that is too long', async () => {
    const answer = await ver.post('send', { to: nextPhone() }, { idempotencyKey: 'k'.repeat(201) })
    expect(faultPaths(answer)).toEqual(['Idempotency-Key'])
  })
})

test('a code to a fixed line is sent over the chat app when the request names no channel', async () => {
  const sent = await ver.start({ to: '+493012345678' })
  expect(sent.channel).toBe('official_chatapp')
})

describe('POST /api/v2/verification/verify rejects', () => {
  test.each([
    ['an empty body', {}, ['code']],
    ['no code', { to: '+12025550123' }, ['code']],
    ['a number as the code', { to: '+12025550123', code: 123456 }, ['code']],
    ['a code that is too long', { to: '+12025550123', code: '1'.repeat(65) }, ['code']],
    ['neither id nor recipient', { code: '123456' }, ['verificationId']],
    ['an invalid recipient', { to: 'nobody', code: '123456' }, ['to']],
    ['an id of the wrong type', { verificationId: 5, code: '123456' }, ['verificationId']],
  ])('%s', async (_, body, paths) => {
    const answer = await ver.post('verify', body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(faultPaths(answer)).toEqual(paths)
  })
})

describe.each(['verify', 'resend'] as const)('%s does not accept', operation => {
  test.each([
    ['an unknown id', { verificationId: UNKNOWN }],
    ['a malformed id', { verificationId: 'x' }],
    ['the id of a message', { verificationId: UNKNOWN.replace('ver', 'msg') }],
    ['a recipient without a verification', { to: '+12025559999' }],
    ['an unknown id together with a recipient', { verificationId: UNKNOWN, to: '+12025559999' }],
  ])('%s', async (_, which) => {
    const answer = await ver.post(operation, { ...which, code: '123456' })
    expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'NOT_FOUND' } })
  })

  test('another account’s id or number', async () => {
    const to = nextPhone()
    const { verificationId } = await ver.start({ to })
    const code = await codeFor(account, to)
    const stranger = verifications(app, await app.createAccount())
    for (const which of [{ verificationId }, { to }]) {
      expect(await stranger.post(operation, { ...which, code })).toMatchObject({ status: 404 })
    }
  })

  test('an id and a recipient that do not match, and counts no attempt', async () => {
    const to = nextPhone()
    const other = nextPhone()
    const { verificationId } = await ver.start({ to })
    await ver.start({ to: other })
    const answer = await ver.post(operation, { verificationId, to: other, code: await codeFor(account, to) })
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(faultPaths(answer)).toEqual(['to'])
    expect(await ver.read(verificationId)).toMatchObject({ status: 'pending', attemptsRemaining: 5 })
  })
})

describe('POST /api/v2/verification/resend rejects', () => {
  test('an empty body', async () => {
    expect(faultPaths(await ver.post('resend', {}))).toEqual(['verificationId'])
  })

  test('an invalid clientIp', async () => {
    const to = nextPhone()
    await ver.start({ to })
    expect(faultPaths(await ver.post('resend', { to, clientIp: 'here' }))).toEqual(['clientIp'])
    await app.leap(60_000)
    expect(faultPaths(await ver.post('resend', { to, clientIp: 'here' }))).toEqual(['clientIp'])
  })
})

describe('access to verifications', () => {
  test.each(['send', 'resend', 'verify'] as const)(
    '%s needs messages:create and a verified phone',
    async operation => {
      const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
        name: 'reader',
        mode: 'test',
        role: 'member',
        permissions: ['messages:read'],
      })
      const { apiKey } = made.body['data'] as { apiKey: string }
      const unverified = await app.createAccount({ phone: { number: '+12025550123', verified: false } })
      for (const key of [apiKey, unverified.testKey]) {
        const answer = await app.call(`/api/v2/verification/${operation}`, { method: 'POST', key, body: {} })
        expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      expect(await app.call(`/api/v2/verification/${operation}`, { method: 'POST', body: {} })).toMatchObject(
        {
          status: 401,
        },
      )
      const read = await app.call(`/api/v2/verification/${operation}`, { key: account.testKey })
      expect(read).toMatchObject({ status: 405 })
      expect(read.headers.get('allow')).toBe('POST')
    },
  )

  test('reading needs a key of the account', async () => {
    const { verificationId } = await ver.start({ to: nextPhone() })
    const stranger = await app.createAccount()
    for (const [key, status] of [
      [stranger.testKey, 404],
      [null, 401],
      [account.testKey, 200],
    ] as const) {
      expect((await app.call(`/api/v2/verification/${verificationId}`, { key })).status).toBe(status)
    }
    expect((await app.call('/api/v2/verification/nonsense', { key: account.testKey })).status).toBe(404)
  })

  test('verification sends have their own rate limit', async () => {
    const slow = await app.createAccount({ plan: { verificationRateLimitPerSecond: 1 } })
    const own = verifications(app, slow)
    const answers = await Promise.all(Array.from({ length: 3 }, () => own.post('send', { to: nextPhone() })))
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 200, 429])
    const limited = answers.find(answer => answer.status === 429)!
    expect(limited.body).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 })
    expect(limited.headers.get('ratelimit-policy')).toBe('"verification_send";q=2;w=2')
    expect((await slow.send({ to: nextPhone(), text: 'Good morning' })).status).toBe(200)
  })
})
