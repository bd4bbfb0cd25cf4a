import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChannelOrder, VerificationAttempt } from '../../../src/contract/verification.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { noSuchNumber, startSmsGateway, taken } from '../../support/gateways.ts'
import { codeFor, type Verifications, verifications } from '../../support/verification.ts'

let app: TestApp
let account: TestAccount
let ver: Verifications

const LIVE = { live: true }
const MINUTE_MS = 60_000
const RULES = ['prefix', 'country', 'conversion', 'clientIp', 'spend', 'recipient']
let phones = 0
const nextPhone = () => `+1305555${2_000 + phones++}`

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  await app.admin('PUT', '/fraud', Object.fromEntries(RULES.map(rule => [rule, { mode: 'off' }])))
  account = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  ver = verifications(app, account)
})
afterAll(() => app.stop())

async function updateSettings(verification: object): Promise<void> {
  const answer = await app.call('/api/v2/account', {
    method: 'PATCH',
    key: account.liveKey,
    body: { verification },
  })
  expect(answer.status, answer.text).toBe(200)
}

/** Posts all concurrently, and lets the test clock run until all have responses. */
async function post(operation: 'send' | 'verify', bodies: readonly object[], key: string): Promise<Answer[]> {
  const answers = await app.during(
    Promise.all(
      bodies.map(body => app.call(`/api/v2/verification/${operation}`, { method: 'POST', key, body })),
    ),
  )
  for (const { status, text } of answers) expect(status, text).toBe(200)
  return answers
}

/** Sends so many codes over a channel, and confirms all or none. */
async function codes(count: number, channel: string, confirmed: boolean, of = account): Promise<void> {
  const bodies = Array.from({ length: count }, () => ({ to: nextPhone(), channel }))
  await post('send', bodies, of.liveKey)
  if (!confirmed) return
  const checks = await Promise.all(bodies.map(async ({ to }) => ({ to, code: await codeFor(of, to) })))
  await post('verify', checks, of.liveKey)
}

/** Lets time pass until the outcomes are aggregated and loaded by the node. */
async function learn(): Promise<void> {
  await app.leap(21 * MINUTE_MS)
  await app.leap(MINUTE_MS)
}

type Chosen = { channel: string; channels?: string[]; order?: ChannelOrder }

async function chooseMany(count: number): Promise<Chosen[]> {
  const answers = await post(
    'send',
    Array.from({ length: count }, () => ({ to: nextPhone() })),
    account.liveKey,
  )
  return answers.map(({ body }) => {
    const { channel, resolved } = body as VerificationAttempt
    return { channel, ...(resolved && { channels: resolved.channels, order: resolved.order }) }
  })
}

async function choose(): Promise<Chosen> {
  return (await chooseMany(1))[0]!
}

test('the learned channel order follows the conversion of codes, and falls back to the policy with old data', async () => {
  await updateSettings({ channelOrder: 'learned', trialPercent: 0 })
  // Without data the policy decides, and the account is loaded by the node.
  expect(await choose()).toMatchObject({
    channel: 'local_sms',
    channels: ['local_sms', 'official_chatapp'],
    order: { by: 'policy', country: 'US' },
  })

  await codes(40, 'local_sms', false)
  await codes(40, 'official_chatapp', true)
  await learn()
  const learned = await choose()
  expect(learned).toMatchObject({
    channel: 'official_chatapp',
    channels: ['official_chatapp', 'local_sms'],
    order: { by: 'learned', country: 'US' },
  })
  const [chatApp, sms] = learned.order!.channels
  expect(chatApp!.conversion).toBeGreaterThan(0.8)
  expect(sms!.conversion).toBeLessThan(0.4)
  // The sandbox reports delivery after a second.
  expect(chatApp!.deliverySeconds).toBeLessThan(10)
  expect(chatApp!.codes).toBeGreaterThanOrEqual(40)

  // A channel in the request still takes precedence.
  const { channel } = await ver.start({ to: nextPhone(), channel: 'local_sms' }, LIVE)
  expect(channel).toBe('local_sms')

  // A replay stays the same, and a resend chooses again.
  const to = nextPhone()
  const first = await ver.post('send', { to }, { ...LIVE, idempotencyKey: 'learned' })
  expect(first.body['resolved']).toMatchObject({ order: { by: 'learned' } })
  await app.leap(61_000)
  const again = await ver.post('send', { to }, { ...LIVE, idempotencyKey: 'learned' })
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  const resent = await ver.post('resend', { to }, LIVE)
  expect(resent.body).toMatchObject({ channel: 'official_chatapp', resolved: { order: { by: 'learned' } } })

  // For another country there is no data.
  const abroad = await ver.start({ to: '+447400123456' }, LIVE)
  expect(abroad).toMatchObject({ channel: 'int_sms', resolved: { order: { by: 'policy', country: 'GB' } } })

  // Old data counts less and less, until it is too little.
  app.jump(28 * 24 * 60 * MINUTE_MS)
  expect(await choose()).toMatchObject({ channel: 'local_sms', order: { by: 'policy' } })
})

test('data of other accounts is used for an account with little data, and only with channelOrder learned', async () => {
  const others = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  // An account that never confirms a code may confirm elsewhere, and does not count.
  await codes(1, 'official_chatapp', true, others)
  await learn()
  await codes(40, 'local_sms', false, others)
  await codes(40, 'official_chatapp', true, others)
  await updateSettings({ channelOrder: 'learned', trialPercent: 0 })
  await choose()
  await learn()
  expect(await choose()).toMatchObject({ channel: 'official_chatapp', order: { by: 'learned' } })

  await updateSettings({ channelOrder: 'policy' })
  expect(await choose()).toEqual({ channel: 'local_sms' })
  await updateSettings({ channelOrder: 'learned' })
  expect(await choose()).toMatchObject({ channel: 'official_chatapp' })
  const answer = await app.call('/api/v2/account', {
    method: 'PATCH',
    key: account.liveKey,
    body: { verification: null },
  })
  expect(answer.body['data']).toMatchObject({
    verification: { channelOrder: 'policy', trialPercent: 5, codeLength: 6 },
  })
  expect(await choose()).toEqual({ channel: 'local_sms' })
})

test('a code that no provider took is not learned from, be it refused before the response or after it', async () => {
  const own = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  const gateway = await startSmsGateway(app, { account: own, config: { messagesPerSecond: 1 } })
  gateway.act(noSuchNumber)
  try {
    const start = () => verifications(app, own).post('send', { to: nextPhone(), channel: 'local_sms' }, LIVE)
    const answers = await Promise.all(Array.from({ length: 6 }, start))
    // The connection takes one a second: the last ones are still waiting when they get their responses.
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 200]))
    await app.until(
      () => own.messages('?limit=50'),
      all => all.every(({ status }) => status === 'failed'),
    )
    gateway.act(taken)
    await verifications(app, own).start({ to: nextPhone(), channel: 'local_sms' }, LIVE)
    await learn()
    const { rows } = await app.db.query<{ tried: number }>({
      name: 'learned_of',
      text: 'select tried from channel_learning where account_id = $1',
      values: [toUuid(own.id as `acc_${string}`)],
    })
    expect(rows).toEqual([{ tried: 1 }])
  } finally {
    await gateway.close()
  }
})

test('the share of trials does not exceed trialPercent', async () => {
  await updateSettings({ channelOrder: 'learned', trialPercent: 20 })
  const orders = await chooseMany(60)
  const trials = orders.filter(({ order }) => order?.by === 'trial')
  // 12 of 60 are expected. More than 30 occur once in ten million runs, and none once in 600,000.
  expect(trials.length).toBeLessThan(31)
  expect(trials.length).toBeGreaterThan(0)
  for (const { channel, order } of trials) expect(channel).toBe(order!.channels[0]!.channel)
  await updateSettings({ trialPercent: 0 })
  const none = await chooseMany(20)
  expect(none.filter(({ order }) => order?.by === 'trial')).toEqual([])
})

test.each([
  [{ channelOrder: 'best' }, 'verification.channelOrder'],
  [{ trialPercent: 21 }, 'verification.trialPercent'],
  [{ trialPercent: -1 }, 'verification.trialPercent'],
  [{ trialPercent: 0.5 }, 'verification.trialPercent'],
])('rejects invalid settings: %j', async (verification, path) => {
  const answer = await app.call('/api/v2/account', {
    method: 'PATCH',
    key: account.liveKey,
    body: { verification },
  })
  expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
  expect(answer.body['details']).toMatchObject([{ path }])
})
