import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessageWithTimeline } from '../../../src/contract/message.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { replays } from '../messages-send/refusal.ts'

const PHONE = '+12025550100'
const THROTTLED = '+12025550006'

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

const cancel = (id: string, key = account.liveKey): Promise<Answer> =>
  app.call(`/api/v2/messages/${id}/cancel`, { method: 'POST', key })

const statuses = (message: MessageWithTimeline) =>
  message.timeline.filter(entry => entry.event === 'status').map(entry => entry.status)

async function schedule(own: TestAccount, inMs: number, more: object = {}) {
  const [latest] = (await own.messages('?limit=1')) as { createdAt: string }[]
  const nowMs = latest ? Date.parse(latest.createdAt) : Date.parse(await firstSend(own))
  const options = { scheduleAt: new Date(nowMs + inMs).toISOString() }
  return own.send(
    { to: PHONE, text: 'Later', options, ...more },
    { live: true, idempotencyKey: `in ${inMs}` },
  )
}

async function firstSend(own: TestAccount): Promise<string> {
  return (await own.message(messageIdOf(await own.send({ to: PHONE, text: 'Now' })))).createdAt
}

describe('200 when a message is cancelled', () => {
  test('a scheduled message: its hold is released, and it is never sent', async () => {
    const own = await app.createAccount({ balance: 1 })
    const sent = await schedule(own, 2_000)
    const id = messageIdOf(sent)
    expect((await own.messages('?status=scheduled')).map(message => message.messageId)).toEqual([id])
    expect(await own.wallet()).toMatchObject({ balance: 0.9921, held: 0.0079 })

    const answer = await cancel(id, own.liveKey)
    expect([answer.status, answer.body['success']]).toEqual([200, true])
    const message = answer.body['data'] as MessageWithTimeline
    expect(message).toMatchObject({ id, messageId: id, status: 'cancelled', billing: { state: 'released' } })
    expect(message.endedAt).not.toBeNull()
    expect(statuses(message)).toEqual(['scheduled', 'cancelled'])
    expect(await own.wallet()).toMatchObject({ balance: 1, held: 0, captured: 0, credited: 1 })
    expect(await own.footprint()).toMatchObject({ outbox: 0 })

    await app.pass(4_000)
    expect(await own.message(id)).toEqual(message)
    expect((await own.inbox()).map(taken => taken.messageId)).not.toContain(id)
    // The replay of the send stays the same.
    const options = { scheduleAt: sent.body['scheduledAt'] }
    await replays(own, { to: PHONE, text: 'Later', options }, sent, { live: true, idempotencyKey: 'in 2000' })
  })

  test('a message that waits for a retry: its attempt is listed once', async () => {
    const own = await app.createAccount()
    const id = messageIdOf(await app.during(own.send({ to: THROTTLED, text: 'Hello' }, { live: true })))
    const answer = await cancel(id, own.liveKey)
    expect(answer.status, answer.text).toBe(200)
    const message = answer.body['data'] as MessageWithTimeline
    expect(statuses(message)).toEqual(['queued', 'cancelled'])
    expect(message.timeline.filter(entry => entry.event === 'attempt')).toMatchObject([
      { outcome: 'throttled', providerCode: '0006', explanation: expect.any(String) },
    ])
    await app.pass(6_000)
    expect((await own.message(id)).status).toBe('cancelled')
    expect(await own.wallet()).toMatchObject({ balance: 100, held: 0, captured: 0 })
  })

  test('a scheduled message that was throttled, and is queued again', async () => {
    const own = await app.createAccount()
    const id = messageIdOf(await schedule(own, 2_000, { to: THROTTLED }))
    const waiting = await app.until(
      () => own.message(id),
      message => message.status === 'queued',
    )
    expect(waiting.timeline).toMatchObject([
      { status: 'scheduled' },
      { event: 'attempt', outcome: 'throttled' },
      { status: 'queued' },
    ])
    const answer = await cancel(id, own.liveKey)
    expect(statuses(answer.body['data'] as MessageWithTimeline)).toEqual(['scheduled', 'queued', 'cancelled'])
    expect(await own.wallet()).toMatchObject({ held: 0, captured: 0 })
  })

  test('a message paid from the pool is given back to the pool', async () => {
    const own = await app.createAccount({ plan: { pool: [{ channels: ['local_sms'], limit: 1 }] } })
    const id = messageIdOf(await schedule(own, 60_000))
    expect(await own.footprint()).toMatchObject({ poolUsed: 1 })
    expect((await cancel(id, own.liveKey)).status).toBe(200)
    expect(await own.footprint()).toMatchObject({ poolUsed: 0 })
    expect(await own.wallet()).toMatchObject({ balance: 100 })
  })

  test('of concurrent cancels one succeeds, and the hold is released once', async () => {
    const own = await app.createAccount({ balance: 1 })
    const id = messageIdOf(await schedule(own, 60_000))
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(id, own.liveKey)))
    expect(answers.map(answer => answer.status).toSorted()).toEqual([200, ...Array(9).fill(409)])
    expect(await own.wallet()).toMatchObject({ balance: 1, held: 0 })
  })
})

describe('403 when a cancel is not allowed', () => {
  test('for a key with messages:read only', async () => {
    const { body } = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Reads only',
      mode: 'live',
      role: 'member',
      permissions: ['messages:read'],
    })
    const { apiKey } = body['data'] as { apiKey: string }
    const id = messageIdOf(await schedule(account, 60_000))
    const answer = await cancel(id, apiKey)
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
    expect((await account.message(id)).status).toBe('scheduled')
  })

  test('for a test key and a live message; a live key may cancel a test message', async () => {
    const own = await app.createAccount()
    const live = messageIdOf(await schedule(own, 60_000))
    const answer = await cancel(live, own.testKey)
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
    expect((await own.message(live)).status).toBe('scheduled')
    const options = { scheduleAt: (await own.message(live)).scheduledAt }
    const test = messageIdOf(await own.send({ to: PHONE, text: 'Later', options }))
    expect((await cancel(test, own.liveKey)).status).toBe(200)
  })
})

describe('409 when a message cannot be cancelled', () => {
  test.each([
    ['delivered', PHONE],
    ['unknown', '+12025550005'],
    ['failed', '+12025550002'],
    ['undelivered', '+12025550004'],
  ])('for a message that is %s, which does not change', async (status, to) => {
    const own = await app.createAccount()
    await app.during(own.send({ to, text: 'Hello' }, { live: true }))
    const [ended] = await app.until(
      () => own.messages(),
      ([message]) => message!.status === status,
    )
    const wallet = await own.wallet()
    const answer = await cancel(ended!.messageId, own.liveKey)
    expect([answer.status, answer.body['code']]).toEqual([409, 'MESSAGE_STATE_CONFLICT'])
    expect(answer.body['error']).toContain(status)
    expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'))
    expect(await own.wallet()).toEqual(wallet)
  })

  test('for a message that is already cancelled', async () => {
    const own = await app.createAccount()
    const id = messageIdOf(await schedule(own, 60_000))
    expect((await cancel(id, own.liveKey)).status).toBe(200)
    const again = await cancel(id, own.liveKey)
    expect([again.status, again.body['code']]).toEqual([409, 'MESSAGE_STATE_CONFLICT'])
  })

  test('for a message that is being submitted', async () => {
    const own = await app.createAccount()
    const pending = own.send({ to: '+12025550005', text: 'Hello' }, { live: true })
    const [sending] = await app.until(
      () => own.messages('?status=sending'),
      messages => messages.length === 1,
    )
    expect((await cancel(sending!.messageId, own.liveKey)).status).toBe(409)
    expect((await app.during(pending)).status).toBe(200)
  })
})
