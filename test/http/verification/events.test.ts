import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type HttpPeer, startHttpPeer } from '../../support/http-peer.ts'
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
let receiver: HttpPeer

beforeAll(async () => {
  receiver = await startHttpPeer(() => ({ status: 200, body: '' }))
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  account = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  ver = verifications(app, account)
  const events = ['sent', 'verified', 'failed', 'superseded'].map(type => `verification.${type}`)
  const made = await app.call('/api/v2/webhooks', {
    method: 'POST',
    key: account.liveKey,
    body: { url: receiver.url, events },
  })
  expect(made.status, made.text).toBe(201)
})
afterAll(async () => {
  await app.stop()
  await receiver.close()
})

type Event = { type: string; data: Record<string, unknown> }

/** The webhook events of one verification, in the order of their arrival. */
function receivedEvents(id: string): Event[] {
  const events = receiver.requests.map(({ body }) => JSON.parse(body) as Event)
  return events.filter(({ data }) => data['verificationId'] === id)
}

async function untilReceived(id: string, count: number): Promise<Event[]> {
  return app.until(
    async () => receivedEvents(id),
    events => events.length >= count,
  )
}

test('a verification has an event for each code sent, and one for its end', async () => {
  const to = nextPhone()
  const first = await ver.start({ to })
  const { verificationId, expiresAt } = await ver.start({ to })
  const code = await codeFor(account, to)
  // A delivery in flight when the test clock leaps would time out and be sent again.
  await untilReceived(first.verificationId, 2)
  await untilReceived(verificationId, 1)
  await app.leap(60_000)
  const again = await ver.post('resend', { to })
  await ver.post('verify', { to, code: await codeFor(account, to) })

  expect((await untilReceived(first.verificationId, 2)).map(({ type }) => type)).toEqual([
    'verification.sent',
    'verification.superseded',
  ])
  const events = await untilReceived(verificationId, 3)
  expect(events.map(({ type, data }) => [type, data['resendCount']])).toEqual([
    ['verification.sent', 0],
    ['verification.sent', 1],
    ['verification.verified', 1],
  ])
  expect(events[0]!.data).toEqual({
    verificationId,
    mode: 'test',
    to,
    country: 'US',
    channel: 'local_sms',
    messageId: `msg_${verificationId.slice(4)}`,
    resendCount: 0,
    expiresAt,
    reason: null,
  })
  expect(events[1]!.data['expiresAt']).toBe(again.body['expiresAt'])
  expect(receiver.requests.filter(({ body }) => body.includes(`"${code}"`))).toEqual([])
})

test('verification.failed is sent once for exhausted attempts, and for a code that was not sent', async () => {
  const to = nextPhone()
  const { verificationId } = await ver.start({ to })
  const code = await codeFor(account, to)
  for (let n = 1; n <= 7; n++) await ver.post('verify', { to, code: wrongCode(code, n) })
  const spent = await untilReceived(verificationId, 2)
  expect(spent.map(({ type, data }) => [type, data['reason']])).toEqual([
    ['verification.sent', null],
    ['verification.failed', 'attempts_exhausted'],
  ])

  const refused = await ver.post('send', { to: '+12025550002' })
  const id = `ver_${(refused.body['requestId'] as string).slice(4)}`
  expect((await untilReceived(id, 2)).map(({ type, data }) => [type, data['reason']])).toEqual([
    ['verification.sent', null],
    ['verification.failed', 'not_sent'],
  ])
})
