import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VerificationAttempt } from '../../../src/contract/verification.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { noSuchNumber, startChatGateway, startSmsGateway } from '../../support/gateways.ts'
import { startHttpPeer } from '../../support/http-peer.ts'
import { codeFor, nextPhone, type Verifications, verifications } from '../../support/verification.ts'

const LIVE = { live: true }

let app: TestApp
let account: TestAccount
let ver: Verifications

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  account = await addAccount()
  ver = verifications(app, account)
})
afterAll(() => app.stop())

function addAccount(more: Parameters<TestApp['createAccount']>[0] = {}): Promise<TestAccount> {
  return app.createAccount({ ...more, plan: { verificationRateLimitPerSecond: 100_000, ...more?.plan } })
}

/** Changes the account's verification settings, and waits until this node has loaded them. */
async function set(of: TestAccount, verification: unknown): Promise<void> {
  const answer = await app.call('/api/v2/account', {
    method: 'PATCH',
    key: of.liveKey,
    body: { verification },
  })
  expect(answer).toMatchObject({ status: 200 })
  await app.pass(300)
}

/** An SMS connection of the account alone, to a gateway. */
async function refuseSms(of: TestAccount, url: string, means = 'recipient'): Promise<void> {
  const made = await app.admin('POST', '/connections', {
    provider: 'http-sms',
    name: 'refusing',
    channels: ['local_sms'],
    accountId: of.id,
    priorityOrder: 1,
    retryPolicy: { maxAttempts: 1 },
    config: {
      request: { url, json: { to: '{{to}}', text: '{{text}}' } },
      answer: { format: 'json', id: 'id', error: 'error', errors: { bad: { means } } },
    },
  })
  expect(made).toMatchObject({ status: 201 })
  await app.pass(300)
}

describe('an idempotency key of a verification', () => {
  test('replays the same bytes whatever happened to the verification since', async () => {
    const to = nextPhone()
    const key = { idempotencyKey: 'start-1' }
    const first = await ver.post('send', { to }, key)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const replays = [await ver.post('send', { to }, key)]
    await app.leap(60_000)
    await ver.post('resend', { to })
    replays.push(await ver.post('send', { to }, key))
    await ver.post('verify', { to, code: await codeFor(account, to) })
    replays.push(await ver.post('send', { to, idempotencyKey: 'ignored' }, key))
    await ver.start({ to })
    replays.push(await ver.post('send', { to, idempotencyKey: 'start-1' }))
    for (const replay of replays) {
      expect(replay.text).toBe(first.text)
      expect(replay.headers.get('idempotency-replayed')).toBe('true')
      expect(replay.headers.get('x-sandbox')).toBe('true')
    }
    // The first send, its resend and the later send: no replay sent anything.
    expect(await account.inbox(to)).toHaveLength(3)
  })

  test('replays without X-Sandbox what the sandbox did not answer', async () => {
    const own = await addAccount()
    const asked = await app.call('/api/v2/sms-senders', {
      method: 'POST',
      key: own.liveKey,
      body: { name: 'Not yet' },
    })
    const { smsSender } = asked.body['data'] as { smsSender: { id: string } }
    const body = { to: '+12025550001', channel: 'official_chatapp', senderId: smsSender.id }
    const key = { live: true, idempotencyKey: 'refused by us' }
    const first = await verifications(app, own).post('send', body, key)
    expect([first.body['code'], first.headers.get('x-sandbox')]).toEqual(['VALIDATION_ERROR', null])
    await app.admin('POST', `/sms-senders/${smsSender.id}/approve`)
    await app.pass(300)
    // Without the key, the sandbox refuses it by now: the recipient is not on the chat app.
    const now = await verifications(app, own).post('send', body, { live: true })
    expect([now.body['code'], now.headers.get('x-sandbox')]).toEqual(['CHATAPP_NOT_REGISTERED', 'true'])
    const replay = await verifications(app, own).post('send', body, key)
    expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expect(replay.headers.get('x-sandbox')).toBeNull()
  })

  test('with another body is a conflict, and supersedes nothing', async () => {
    const to = nextPhone()
    await ver.start({ to }, { idempotencyKey: 'start-2' })
    const code = await codeFor(account, to)
    expect(await ver.post('send', { to, channel: 'local_sms' }, { idempotencyKey: 'start-2' })).toMatchObject(
      {
        status: 409,
        body: { code: 'IDEMPOTENCY_KEY_CONFLICT' },
      },
    )
    expect(await ver.post('verify', { to, code })).toMatchObject({ status: 200 })
  })

  test('is not stored for a malformed body, and is a conflict for one when already used', async () => {
    const to = nextPhone()
    const key = { idempotencyKey: 'start-cut' }
    expect(await ver.post('send', '{"to":', key)).toMatchObject({ status: 400 })
    await ver.start({ to }, key)
    expect(await ver.post('send', '{"to":', key)).toMatchObject({ status: 409 })
  })

  test('is separate from the same key of a message send', async () => {
    const to = nextPhone()
    const [message, code] = [
      await account.send({ to, text: 'Good morning' }, { idempotencyKey: 'shared' }),
      await ver.post('send', { to }, { idempotencyKey: 'shared' }),
    ]
    expect([message.status, code.status]).toEqual([200, 200])
  })

  test('replays an error response too', async () => {
    const key = { idempotencyKey: 'start-3' }
    const first = await ver.post('send', { to: 'nobody' }, key)
    const second = await ver.post('send', { to: 'nobody' }, key)
    expect([first.status, second.text]).toEqual([400, first.text])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
  })

  test('starts one verification for concurrent requests', async () => {
    const to = nextPhone()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ver.post('send', { to }, { idempotencyKey: 'race' })),
    )
    const ids = answers.flatMap(answer => (answer.status === 200 ? [answer.body['verificationId']] : []))
    expect(new Set(ids).size).toBe(1)
    expect(answers.every(answer => [200, 409].includes(answer.status))).toBe(true)
    expect(await account.inbox(to)).toHaveLength(1)
  })
})

describe('an error response of a verification', () => {
  test('402 changes nothing: the earlier code stays valid', async () => {
    const poor = await addAccount({ balance: 0.015 })
    const own = verifications(app, poor)
    const to = nextPhone()
    await own.start({ to, channel: 'local_sms' }, { live: true })
    const code = await codeFor(poor, to)
    const key = { live: true, idempotencyKey: 'dry' }
    const dry = await own.post('send', { to, channel: 'local_sms' }, key)
    expect(dry).toMatchObject({ status: 402, body: { success: false, code: 'INSUFFICIENT_BALANCE' } })
    expect((await own.post('send', { to, channel: 'local_sms' }, key)).text).toBe(dry.text)
    await app.leap(60_000)
    expect(await own.post('resend', { to }, { live: true })).toMatchObject({ status: 402 })
    expect(await own.post('verify', { to, code }, { live: true })).toMatchObject({ status: 200 })
  })

  test('RECIPIENT_REJECTED fails the verification, and is replayed and not charged', async () => {
    const to = '+12025550002'
    const own = await addAccount()
    const refused = await verifications(app, own).post('send', { to }, { idempotencyKey: 'refused' })
    expect(refused).toMatchObject({ status: 400, body: { code: 'RECIPIENT_REJECTED' } })
    const replay = await verifications(app, own).post('send', { to }, { idempotencyKey: 'refused' })
    expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([refused.text, 'true'])
    const verificationId = `ver_${(refused.body['requestId'] as string).slice(4)}`
    expect(await verifications(app, own).read(verificationId)).toMatchObject({ status: 'failed' })
    expect(await verifications(app, own).post('verify', { to, code: '123456' })).toMatchObject({
      status: 404,
    })
    const wallet = await own.wallet()
    expect(wallet.balance).toBe(wallet.credited)
  })

  test('CHATAPP_NOT_REGISTERED is replayed, with X-Sandbox both times', async () => {
    const body = { to: '+12025550001', channel: 'official_chatapp' }
    const key = { idempotencyKey: 'not registered' }
    const first = await ver.post('send', body, key)
    const again = await ver.post('send', body, key)
    for (const answer of [first, again]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'CHATAPP_NOT_REGISTERED' } })
      expect(answer.headers.get('x-sandbox')).toBe('true')
    }
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  })

  test('for a send that the provider rejects leaves the earlier code valid', async () => {
    const own = await addAccount()
    const gateway = await startSmsGateway(app, { account: own })
    try {
      const mine = verifications(app, own)
      const body = { to: nextPhone(), channel: 'local_sms' }
      const earlier = await mine.start(body, LIVE)
      const sent = JSON.parse(gateway.peer.requests[0]!.body) as { text: string }
      const code = /\d{6}/.exec(sent.text)![0]
      gateway.act(noSuchNumber)
      for (const _ of [1, 2]) {
        const refused = await mine.post('send', body, LIVE)
        expect(refused).toMatchObject({ status: 400, body: { code: 'RECIPIENT_REJECTED' } })
      }
      expect(gateway.peer.requests).toHaveLength(3)
      const read = await app.call(`/api/v2/verification/${earlier.verificationId}`, { key: own.liveKey })
      expect(read.body['data']).toMatchObject({ status: 'pending' })
      expect(await mine.post('verify', { to: body.to, code }, LIVE)).toMatchObject({
        status: 200,
        body: { verificationId: earlier.verificationId },
      })
    } finally {
      await gateway.close()
    }
  })
})

test('a verification whose submit takes too long is queued, and its code is valid', async () => {
  const to = '+12025550006'
  const sent = await ver.start({ to })
  expect(sent.status).toBe('queued')
  await app.pass(8_000)
  expect(await ver.post('verify', { to, code: await codeFor(account, to) })).toMatchObject({ status: 200 })
})

describe('verification settings of the account', () => {
  test('set the length of codes and their validity', async () => {
    const own = await addAccount()
    const mine = verifications(app, own)
    await set(own, { codeLength: 8, validityMinutes: 1 })
    const to = nextPhone()
    const { verificationId, expiresAt, resendAvailableAt } = await mine.start({ to })
    expect(await codeFor(own, to)).toMatch(/^\d{8}$/)
    expect(Date.parse(expiresAt) - app.now()).toBeLessThanOrEqual(60_000)
    // An expired verification can be resent when it expired before the first resend was allowed.
    await app.leap(70_000)
    expect(await mine.post('verify', { to, code: await codeFor(own, to) })).toMatchObject({
      body: { code: 'VERIFICATION_EXPIRED' },
    })
    expect(await mine.read(verificationId)).toMatchObject({ status: 'expired', resendAvailableAt })
    expect(await mine.post('resend', { to })).toMatchObject({ status: 200 })
    await set(own, { codeLength: 4 })
    await mine.start({ to })
    expect(await codeFor(own, to)).toMatch(/^\d{4}$/)
    const shown = await app.call('/api/v2/account', { key: own.testKey })
    expect(shown.body['data']).toMatchObject({
      verification: { codeLength: 4, validityMinutes: 1, channels: [], templateId: null },
    })
    await set(own, null)
    await mine.start({ to })
    expect(await codeFor(own, to)).toMatch(/^\d{6}$/)
  })

  test.each([
    [{ codeLength: 3 }, 'verification.codeLength'],
    [{ codeLength: 9 }, 'verification.codeLength'],
    [{ codeLength: 5.5 }, 'verification.codeLength'],
    [{ validityMinutes: 0 }, 'verification.validityMinutes'],
    [{ validityMinutes: 11 }, 'verification.validityMinutes'],
    [{ channels: ['botapp_bot'] }, 'verification.channels[0]'],
    [{ templateId: 'tpl_01m7zh2v4me8jr8s0w5b1yw1yh' }, 'verification.templateId'],
    [{ templateId: 'nonsense' }, 'verification.templateId'],
  ])('reject %j, from owner and operator', async (verification, path) => {
    const asOwner = await app.call('/api/v2/account', {
      method: 'PATCH',
      key: account.liveKey,
      body: { verification },
    })
    const asOperator = await app.admin('PATCH', `/accounts/${account.id}`, { verification })
    for (const answer of [asOwner, asOperator]) {
      expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } })
    }
  })

  test('can be saved again unchanged even when their template was deleted', async () => {
    const own = await addAccount()
    const made = await app.call('/api/v2/templates', {
      method: 'POST',
      key: own.liveKey,
      body: { name: 'gone', category: 'sms', subType: 'otp', content: 'Acme: {{1}}' },
    })
    const { id: templateId } = (made.body['data'] as { template: { id: string } }).template
    await set(own, { templateId })
    const gone = await app.call(`/api/v2/templates/${templateId}`, { method: 'DELETE', key: own.liveKey })
    expect(gone.status, gone.text).toBe(200)
    const verification = { templateId, codeLength: 8 }
    const asOwner = await app.call('/api/v2/account', {
      method: 'PATCH',
      key: own.liveKey,
      body: { verification },
    })
    const asOperator = await app.admin('PATCH', `/accounts/${own.id}`, { verification })
    for (const answer of [asOwner, asOperator]) {
      expect(answer.body['data'], answer.text).toMatchObject({ verification })
    }
  })

  test.each([
    ['with more than one placeholder', { category: 'sms', content: '{{1}} for {{2}}' }],
    ['of messages over sessions and bots', { category: 'message', content: '{{1}}' }],
    ['of web sessions', { category: 'chatapp', provider: 'user_session', body: '{{1}}' }],
  ])('reject a template %s', async (_, template) => {
    const own = await addAccount()
    const made = await app.call('/api/v2/templates', {
      method: 'POST',
      key: own.liveKey,
      body: { name: 'greeting', subType: 'otp', ...template },
    })
    const { id: templateId } = (made.body['data'] as { template: { id: string } }).template
    const asOwner = await app.call('/api/v2/account', {
      method: 'PATCH',
      key: own.liveKey,
      body: { verification: { templateId } },
    })
    const asOperator = await app.admin('PATCH', `/accounts/${own.id}`, { verification: { templateId } })
    for (const answer of [asOwner, asOperator]) {
      expect(answer).toMatchObject({
        status: 400,
        body: { details: [{ path: 'verification.templateId' }] },
      })
    }
  })

  test('ignore unknown fields', async () => {
    const own = await addAccount()
    await set(own, { codeLength: 5, codeLenght: 7, more: { than: 'that' } })
    await app.admin('PATCH', `/accounts/${own.id}`, { verification: { validityMinutes: 2, accountId: 'x' } })
    await app.pass(300)
    const asOperator = await app.admin('GET', `/accounts/${own.id}`)
    const shown = await app.call('/api/v2/account', { key: own.testKey })
    for (const answer of [asOperator, shown]) {
      const { verification } = answer.body['data'] as { verification: object }
      const known = [
        'codeLength',
        'validityMinutes',
        'channels',
        'templateId',
        'channelOrder',
        'trialPercent',
      ]
      expect(Object.keys(verification).sort()).toEqual(known.sort())
    }
  })

  test('set the template for codes, on the channels of the template', async () => {
    const own = await addAccount()
    const mine = verifications(app, own)
    const made = await app.call('/api/v2/templates', {
      method: 'POST',
      key: own.liveKey,
      body: { name: 'login_code', category: 'sms', subType: 'otp', content: 'Acme: {{1}} lets you in' },
    })
    const { id } = (made.body['data'] as { template: { id: string } }).template
    await set(own, { templateId: id })
    const to = nextPhone()
    await mine.start({ to })
    const [last] = await own.inbox(to)
    expect(last!.text).toMatch(/^Acme: \d{6} lets you in$/)
    await mine.start({ to: 'someone@example.com' })
    expect((await own.inbox('someone@example.com'))[0]!.text).toMatch(/^Your verification code is \d{6}$/)
    await set(own, { templateId: null })
    await mine.start({ to })
    expect((await own.inbox(to))[0]!.text).toMatch(/^Your verification code is \d{6}$/)
    await set(own, { templateId: id })
    await app.call(`/api/v2/templates/${id}/disable`, { method: 'POST', key: own.liveKey })
    await app.pass(300)
    await mine.start({ to })
    expect((await own.inbox(to))[0]!.text).toMatch(/^Your verification code is \d{6}$/)
  })
})

describe('a verification over several channels at once', () => {
  const BOTH = ['local_sms', 'int_sms', 'official_chatapp', 'email_user']
  let own: TestAccount
  let mine: Verifications
  beforeAll(async () => {
    own = await addAccount()
    mine = verifications(app, own)
    await set(own, { channels: BOTH })
  })

  test('sends the same code over each channel, and charges each message', async () => {
    const to = nextPhone()
    const before = await own.wallet()
    const key = { live: true, idempotencyKey: 'both' }
    const sent = await mine.post('send', { to }, key)
    const attempt = sent.body as VerificationAttempt
    expect(attempt).toMatchObject({
      status: 'sent',
      channel: 'local_sms',
      channels: ['local_sms', 'official_chatapp'],
      deliveries: [
        { channel: 'local_sms', messageId: `msg_${attempt.verificationId.slice(4)}`, status: 'sent' },
        { channel: 'official_chatapp', messageId: expect.stringMatching(/^msg_/), status: 'sent' },
      ],
    })
    const messages = await Promise.all(attempt.deliveries!.map(each => own.message(each.messageId)))
    const cost = messages.reduce((sum, message) => sum + message.billing.cost, 0)
    const after = await own.wallet()
    expect(before.balance - after.balance).toBeCloseTo(cost, 6)
    expect((await mine.read(attempt.verificationId)).messageIds).toEqual(
      attempt.deliveries!.map(each => each.messageId),
    )
    const codes = (await own.inbox(to)).map(each => each.text!.match(/\d{6}/)![0])
    expect([codes.length, new Set(codes).size]).toEqual([2, 1])
    expect((await mine.post('send', { to }, key)).text).toBe(sent.text)
    expect(await mine.post('verify', { to, code: codes[0] }, { live: true })).toMatchObject({ status: 200 })
    expect((await mine.post('send', { to }, key)).text).toBe(sent.text)
  })

  test('succeeds when one channel fails, and fails when all do', async () => {
    const to = '+12025550001' // not on the chat app
    const attempt = await mine.start({ to })
    expect(attempt).toMatchObject({ channel: 'local_sms', status: 'sent' })
    expect(attempt.channels).toBeUndefined()
    // A single remaining channel is listed too, because the account uses several channels.
    expect(attempt.deliveries).toMatchObject([{ channel: 'local_sms', status: 'sent' }])
    const refused = await mine.post('send', { to: '+12025550002' }, { idempotencyKey: 'all refused' })
    expect(refused).toMatchObject({ status: 400, body: { code: 'RECIPIENT_REJECTED' } })
    expect((await mine.post('send', { to: '+12025550002' }, { idempotencyKey: 'all refused' })).text).toBe(
      refused.text,
    )
  })

  test('is replayed unchanged when its channels were slow', async () => {
    const key = { idempotencyKey: 'slow' }
    const sent = await mine.post('send', { to: '+12025550006' }, key)
    expect(sent.body).toMatchObject({ status: 'queued', channels: ['local_sms', 'official_chatapp'] })
    await app.pass(8_000)
    const { deliveries } = sent.body as VerificationAttempt
    for (const { messageId } of deliveries!)
      expect(await own.message(messageId)).toMatchObject({ status: expect.stringMatching(/delivered|read/) })
    expect((await mine.post('send', { to: '+12025550006' }, key)).text).toBe(sent.text)
  })

  test('uses only the channel of the request, or those that reach the recipient', async () => {
    const one = await mine.start({ to: nextPhone(), channel: 'local_sms' })
    expect(one.deliveries).toBeUndefined()
    const key = { idempotencyKey: 'one fits' }
    const mail = await mine.post('send', { to: 'someone@example.com' }, key)
    expect(mail.body).toMatchObject({ channel: 'email_user', deliveries: [{ channel: 'email_user' }] })
    expect(mail.body['channels']).toBeUndefined()
    expect((await mine.post('send', { to: 'someone@example.com' }, key)).text).toBe(mail.text)
  })

  test('reports the channel that carries the code in reads, events and totals', async () => {
    const gateway = await startHttpPeer(() => ({ status: 400, body: '{"error": "bad"}' }))
    const hooks = await startHttpPeer(() => ({ status: 200 }))
    try {
      const poor = await addAccount()
      const theirs = verifications(app, poor)
      await set(poor, { channels: ['local_sms', 'official_chatapp'] })
      await refuseSms(poor, gateway.url)
      const hook = { url: hooks.url, events: ['verification.verified'] }
      expect(
        await app.call('/api/v2/webhooks', { method: 'POST', key: poor.liveKey, body: hook }),
      ).toMatchObject({ status: 201 })
      const to = nextPhone()
      const attempt = await theirs.start({ to }, { live: true })
      expect(attempt).toMatchObject({
        channel: 'official_chatapp',
        deliveries: [
          { channel: 'local_sms', status: 'failed' },
          { channel: 'official_chatapp', status: 'sent' },
        ],
      })
      expect(await theirs.read(attempt.verificationId)).toMatchObject({ channel: 'official_chatapp' })
      const code = await codeFor(poor, to)
      expect(await theirs.post('verify', { to, code }, { live: true })).toMatchObject({ status: 200 })
      const stats = await app.call('/api/v2/verification/stats?groupBy=channel', { key: poor.liveKey })
      expect(stats.body['data']).toMatchObject([
        { channel: 'official_chatapp', started: 1, sent: 1, verified: 1, conversion: 1 },
      ])
      const [told] = await app.until(
        async () => hooks.requests,
        requests => requests.length > 0,
      )
      expect(JSON.parse(told!.body)).toMatchObject({
        data: { channel: 'official_chatapp', messageId: attempt.deliveries![1]!.messageId },
      })
    } finally {
      await Promise.all([gateway.close(), hooks.close()])
    }
  })

  test('is replayed when the provider of its first channel was unavailable', async () => {
    const gateway = await startHttpPeer(() => ({ status: 400, body: '{"error": "bad"}' }))
    try {
      const other = await addAccount()
      const theirs = verifications(app, other)
      await set(other, { channels: ['local_sms', 'official_chatapp'] })
      await refuseSms(other, gateway.url, 'operator')
      const to = nextPhone()
      const key = { live: true, idempotencyKey: 'one unavailable' }
      const sent = await theirs.post('send', { to }, key)
      expect(sent).toMatchObject({
        status: 200,
        body: {
          channel: 'official_chatapp',
          deliveries: [
            { channel: 'local_sms', status: 'failed' },
            { channel: 'official_chatapp', status: 'sent' },
          ],
        },
      })
      const replay = await theirs.post('send', { to }, key)
      expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([sent.text, 'true'])
      expect(await other.inbox(to)).toHaveLength(1)
    } finally {
      await gateway.close()
    }
  })

  test('leaves its key free when the provider of its only covered channel was unavailable', async () => {
    const gateway = await startHttpPeer(() => ({ status: 400, body: '{"error": "bad"}' }))
    try {
      const poor = await addAccount({ balance: 0, plan: { pool: [{ channels: ['local_sms'], limit: 5 }] } })
      const theirs = verifications(app, poor)
      await set(poor, { channels: ['local_sms', 'official_chatapp'] })
      await refuseSms(poor, gateway.url, 'operator')
      for (const to of [nextPhone(), nextPhone()]) {
        const refused = await theirs.post('send', { to }, { live: true, idempotencyKey: 'none available' })
        expect(refused).toMatchObject({ status: 503, body: { code: 'PROVIDER_UNAVAILABLE' } })
      }
      expect(await poor.footprint()).toMatchObject({ messages: 2, keys: 0, poolUsed: 0 })
    } finally {
      await gateway.close()
    }
  })

  test('reports the channel that sent the code where the message of another was cancelled as it waited', async () => {
    const slow = await addAccount()
    const theirs = verifications(app, slow)
    const gateway = await startSmsGateway(app, { account: slow, config: { messagesPerSecond: 1 } })
    try {
      // Each takes up one second of the connection's rate.
      const others = Array.from({ length: 10 }, nextPhone)
      await Promise.all(others.map(to => theirs.start({ to, channel: 'local_sms' }, LIVE)))
      await set(slow, { channels: BOTH })
      const to = nextPhone()
      const { verificationId, deliveries } = await theirs.start({ to }, LIVE)
      expect(deliveries).toMatchObject([
        { channel: 'local_sms', status: 'queued' },
        { channel: 'official_chatapp', status: 'sent' },
      ])
      const code = await codeFor(slow, to)
      expect(await theirs.post('verify', { to, code }, LIVE)).toMatchObject({ status: 200 })
      await app.until(
        () => slow.message(deliveries![0]!.messageId),
        ({ status }) => status === 'cancelled',
      )
      expect(await theirs.read(verificationId)).toMatchObject({ channel: 'official_chatapp' })
      const stats = await app.call('/api/v2/verification/stats?groupBy=channel', { key: slow.liveKey })
      expect(stats.body['data']).toMatchObject([
        { channel: 'local_sms', started: 10, sent: 10, verified: 0 },
        { channel: 'official_chatapp', started: 1, sent: 1, verified: 1, conversion: 1 },
      ])
    } finally {
      await gateway.close()
    }
  })

  test('uses the remaining channels when nothing covers the first', async () => {
    const poor = await addAccount({
      balance: 0,
      plan: { pool: [{ channels: ['official_chatapp'], limit: 5 }] },
    })
    const theirs = verifications(app, poor)
    await set(poor, { channels: BOTH })
    const to = nextPhone()
    const key = { live: true, idempotencyKey: 'pool' }
    const sent = await theirs.post('send', { to }, key)
    expect(sent).toMatchObject({
      status: 200,
      body: { channel: 'official_chatapp', deliveries: [{ channel: 'official_chatapp', status: 'sent' }] },
    })
    expect((await theirs.post('send', { to }, key)).text).toBe(sent.text)
    expect(await poor.footprint()).toMatchObject({ messages: 1, keys: 1, poolUsed: 1 })
  })

  test('answers a resend that the sandbox refuses with X-Sandbox', async () => {
    const theirs = await addAccount()
    const to = '+12025550001' // not on the chat app
    for (const live of [true, false]) {
      await set(theirs, null)
      const attempt = await verifications(app, theirs).start({ to }, { live })
      expect(attempt.channel).toBe('local_sms')
      await set(theirs, { channels: ['official_chatapp'] })
      await app.leap(60_000)
      const again = await verifications(app, theirs).post('resend', { to }, { live })
      expect(again).toMatchObject({ status: 400, body: { code: 'CHATAPP_NOT_REGISTERED' } })
      expect(again.headers.get('x-sandbox')).toBe('true')
      expect(again.body['requestId']).toBe(again.headers.get('x-request-id'))
    }
  })

  test('lists no message for a channel that nothing covers, and replays the key at once', async () => {
    const poor = await addAccount({ balance: 0, plan: { pool: [{ channels: ['local_sms'], limit: 5 }] } })
    const theirs = verifications(app, poor)
    await set(poor, { channels: BOTH })
    const to = nextPhone()
    const key = { live: true, idempotencyKey: 'one covered' }
    const sent = await theirs.post('send', { to }, key)
    expect(sent.body).toMatchObject({ channel: 'local_sms', deliveries: [{ channel: 'local_sms' }] })
    const replay = await theirs.post('send', { to }, key)
    expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([sent.text, 'true'])
    const { verificationId: id } = sent.body as VerificationAttempt
    expect((await theirs.read(id)).messageIds).toEqual([`msg_${id.slice(4)}`])
    await app.leap(60_000)
    const again = await theirs.post('resend', { to }, { live: true })
    const { deliveries } = again.body as VerificationAttempt
    expect((await theirs.read(id)).messageIds).toEqual([`msg_${id.slice(4)}`, deliveries![0]!.messageId])
    expect((await theirs.post('send', { to }, key)).text).toBe(sent.text)
  })

  test('lists only accepted messages after a crash between the channels', async () => {
    const to = nextPhone()
    const { verificationId: id } = await mine.start({ to, channel: 'local_sms' })
    // As the crash leaves it: the message of the next channel was never accepted.
    await app.db.query({
      name: 't_forget_next_channel',
      text: `update verifications set started_with = 2, messages = messages || gen_random_uuid() where id = $1`,
      values: [toUuid(id as `ver_${string}`)],
    })
    expect((await mine.read(id)).messageIds).toEqual([`msg_${id.slice(4)}`])
  })

  test('uses all channels for a resend too', async () => {
    const to = nextPhone()
    const attempt = await mine.start({ to })
    await app.leap(60_000)
    const again = await mine.post('resend', { to })
    expect(again.body).toMatchObject({ channels: ['local_sms', 'official_chatapp'], resendCount: 1 })
    expect((await mine.read(attempt.verificationId)).messageIds).toHaveLength(4)
    const codes = (await own.inbox(to)).map(each => each.text!.match(/\d{6}/)![0])
    expect(new Set(codes.slice(0, 2)).size).toBe(1)
    expect(await mine.post('verify', { to, code: codes[0] })).toMatchObject({ status: 200 })
  })
})

test('a verification counts on the channel that sent its code where a resend on another was refused', async () => {
  const own = await addAccount()
  const theirs = verifications(app, own)
  const gateway = await startChatGateway(app, { account: own, sendModeByType: { otp: 'plain_text' } })
  gateway.act({ status: 400, body: JSON.stringify({ error: { code: 131_026, message: 'undeliverable' } }) })
  try {
    await set(own, { channels: ['local_sms'] })
    const { verificationId } = await theirs.start({ to: nextPhone() }, LIVE)
    await set(own, { channels: ['official_chatapp'] })
    await app.leap(60_000)
    expect(await theirs.post('resend', { verificationId }, LIVE)).toMatchObject({ status: 400 })
    expect(gateway.peer.requests).toHaveLength(1)
    const stats = await app.call('/api/v2/verification/stats?groupBy=channel', { key: own.liveKey })
    expect(stats.body['data']).toMatchObject([{ channel: 'local_sms', started: 1, sent: 1 }])
  } finally {
    await gateway.close()
  }
})
