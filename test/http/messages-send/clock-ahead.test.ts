import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/lib/durations.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'

/** What waits while a clock is far ahead, after it was set right. */

const SLOW = '+12025550006'
const FAST = '+12025550100'

let app: TestApp
let receiver: Receiver

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  receiver = await startReceiver()
})
afterAll(() => Promise.all([app.stop(), receiver.close()]))

/** Runs `work` while the clock is ahead. */
async function whileAhead<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  app.jump(byMs)
  const result = await work()
  app.jump(-byMs)
  return result
}

const isDelivered = ({ status }: { status: string }) => status === 'sent' || status === 'delivered'

async function sendLive(own: TestAccount, to: string, more: object = {}): Promise<string> {
  return messageIdOf(await app.during(own.send({ to, text: 'Hello', ...more }, { live: true })))
}

test.each([
  ['hours', 5 * HOUR_MS],
  ['days', 40 * DAY_MS],
])(
  'after %s, messages that wait are sent within minutes, and scheduled ones at their time',
  async (_, byMs) => {
    const own = await app.createAccount()
    const scheduleAt = new Date(app.now() + byMs + HOUR_MS).toISOString()
    const [slow, behind, scheduled] = await whileAhead(byMs, async () => {
      const throttled = await sendLive(own, SLOW)
      // The second one waits for the account's lane, and was never tried.
      return [throttled, await sendLive(own, FAST), await sendLive(own, FAST, { options: { scheduleAt } })]
    })
    await app.leap(11 * MINUTE_MS)
    for (const id of [slow, behind]) await app.until(() => own.message(id!), isDelivered)
    expect((await own.message(scheduled!)).status).toBe('scheduled')
  },
)

test('a bulk job that a provider throttled goes on within minutes', async () => {
  const own = await app.createAccount()
  const job = async (id: string) =>
    (await app.call(`/api/v2/messages/bulk/${id}`, { key: own.liveKey })).body['job'] as { status: string }
  const id = await whileAhead(40 * DAY_MS, async () => {
    const { body } = await app.call('/api/v2/messages/bulk', {
      method: 'POST',
      key: own.liveKey,
      headers: { 'idempotency-key': 'ahead' },
      body: {
        messagesPerSecond: 10,
        messages: [SLOW, FAST].map(to => ({ to, content: { text: 'Hello' }, messageType: 'utility' })),
      },
    })
    const jobId = body['id'] as string
    await app.until(
      () => job(jobId),
      ({ status }) => status === 'paused',
    )
    return jobId
  })
  await app.leap(11 * MINUTE_MS)
  await app.until(
    () => job(id),
    ({ status }) => status === 'completed',
  )
})

test('a webhook call that failed is repeated within minutes', async () => {
  const own = await app.createAccount()
  const created = await app.call('/api/v2/webhooks', {
    method: 'POST',
    key: own.liveKey,
    body: { url: receiver.url('/hook'), events: ['message.sent'] },
  })
  expect(created.status, created.text).toBe(201)
  receiver.react(500)
  await whileAhead(5 * HOUR_MS, async () => {
    await sendLive(own, FAST)
    await app.until(
      () => Promise.resolve(receiver.got.length),
      count => count === 1,
    )
    await app.pass(SECOND_MS)
  })
  receiver.react(200)
  await app.leap(11 * MINUTE_MS)
  await app.until(
    () => Promise.resolve(receiver.got.length),
    count => count >= 2,
  )
})

test('official templates and senders are polled again within minutes', async () => {
  const own = await app.createAccount()
  // The next times that any of them is polled.
  const nextPolls = async () => {
    const { rows } = await app.db.query<{ at: Date }>({
      name: 'ahead_polls',
      text: `select max(next_check_at) as at from templates where account_id = $1
             union all select max(next_check_at) from official_senders`,
      values: [toUuid(own.id as AccountId)],
    })
    return rows.map(({ at }) => at?.getTime() - app.now())
  }
  await whileAhead(40 * DAY_MS, async () => {
    const created = await app.call('/api/v2/templates', {
      method: 'POST',
      key: own.liveKey,
      body: { name: 'hello', category: 'chatapp', subType: 'utility', language: 'en', body: 'Hello' },
    })
    expect(created.status, created.text).toBe(201)
    await app.leap(2 * HOUR_MS)
  })
  expect(Math.min(...(await nextPolls()))).toBeGreaterThan(39 * DAY_MS)
  await app.leap(11 * MINUTE_MS)
  await app.until(nextPolls, times => times.every(inMs => inMs <= HOUR_MS))
})
