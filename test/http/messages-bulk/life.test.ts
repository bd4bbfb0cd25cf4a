import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BulkJob } from '../../../src/contract/bulk.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { bulkRows, createBulk, readBulk, readBulkRows, sentTimes, untilBulk } from '../../support/bulk.ts'
import { notNow, slowDown, startChatGateway, startSmsGateway, taken } from '../../support/gateways.ts'
import type { PeerAct } from '../../support/http-peer.ts'
import { mostInASecond } from '../../support/most-in-a-second.ts'

let app: TestApp

beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

async function begin(
  account: TestAccount,
  messagesPerSecond: number,
  messages: object[],
  options: { live?: boolean } = {},
): Promise<string> {
  const { status, text, body } = await createBulk(app, account, { messagesPerSecond, messages }, options)
  if (status !== 202) throw new Error(text)
  return body['id'] as string
}

function post(account: TestAccount, id: string, verb: string): Promise<Answer> {
  return app.call(`/api/v2/messages/bulk/${id}/${verb}`, { method: 'POST', key: account.testKey })
}

describe('the rate of a bulk job', () => {
  test('never exceeds messagesPerSecond in any second, and is hardly lower', async () => {
    const account = await app.createAccount()
    const id = await begin(account, 5, bulkRows(40))
    await untilBulk(app, account, id, 'completed')
    const times = await sentTimes(app, id)
    expect(times).toHaveLength(40)
    expect(mostInASecond(times)).toBe(5)
    // Rows for eight seconds: at least seven lie between the first and the last.
    expect(times.at(-1)! - times[0]!).toBeLessThan(8_500)
    // Evenly spaced: two bursts close together would be twice the rate.
    expect(Math.min(...times.slice(1).map((at, before) => at - times[before]!))).toBeGreaterThan(150)
  })

  test('is limited for all jobs of an account together, the oldest job first', async () => {
    const account = await app.createAccount({ plan: { name: 'p', bulkCeilingPerSecond: 6 } })
    const [first, second, third] = [
      await begin(account, 4, bulkRows(40)),
      await begin(account, 4, bulkRows(30)),
      await begin(account, 4, bulkRows(10)),
    ]
    await untilBulk(app, account, second!, 'running')
    expect((await readBulk(app, account, third!)).status).toBe('queued')
    await untilBulk(app, account, third!, 'completed')
    await untilBulk(app, account, second!, 'completed')
    const [one, two, three] = [
      await sentTimes(app, first!),
      await sentTimes(app, second!),
      await sentTimes(app, third!),
    ]
    expect(mostInASecond([...one, ...two, ...three])).toBe(6)
    expect(mostInASecond(one)).toBe(4)
    expect(mostInASecond(two)).toBe(4)
    // The first job leaves two a second to the second job.
    expect(mostInASecond(two.filter(at => at < one.at(-1)!))).toBe(2)
    expect(three[0]).toBeGreaterThan(one.at(-1)! - 1_000)
  })
})

describe('rate, pause, resume and cancel', () => {
  test('the rate is kept when the provider does not respond to some messages', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account, config: { maxConnections: 2 } })
    const submittedMs: number[] = []
    gateway.act(nth => {
      submittedMs.push(app.now())
      return nth <= 2 ? 'silent' : taken(nth)
    })
    const id = await begin(account, 4, bulkRows(20), { live: true })
    // The first two time out in the end, which frees their connections for all that waited.
    await app.until(
      async () => submittedMs.length,
      count => count === 20,
    )
    expect(mostInASecond(submittedMs)).toBeLessThanOrEqual(4)
    await post(account, id, 'cancel')
    await gateway.close()
  })

  test('the rate is kept when such a job is paused and resumed meanwhile', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account, config: { maxConnections: 2 } })
    const submittedMs: number[] = []
    gateway.act(nth => {
      submittedMs.push(app.now())
      return nth <= 2 ? 'silent' : taken(nth)
    })
    const id = await begin(account, 4, bulkRows(20), { live: true })
    await app.until(
      () => sentTimes(app, id),
      times => times.length >= 4,
    )
    const byLiveKey = (verb: string) =>
      app.call(`/api/v2/messages/bulk/${id}/${verb}`, { method: 'POST', key: account.liveKey })
    expect((await byLiveKey('pause')).status).toBe(200)
    // Long enough for an idle node to release the account's bulk lane.
    await app.pass(5_000)
    await byLiveKey('resume')
    await app.until(
      async () => submittedMs.length,
      count => count === 20,
    )
    expect(mostInASecond(submittedMs)).toBeLessThanOrEqual(4)
    await gateway.close()
  })

  test('the rate is kept when the provider throttles a message', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account })
    const submittedMs: number[] = []
    gateway.act(nth => {
      submittedMs.push(app.now())
      return nth === 8 ? slowDown : taken(nth)
    })
    const id = await begin(account, 10, bulkRows(30), { live: true })
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts.sent).toBe(30)
    expect(submittedMs).toHaveLength(31)
    expect(mostInASecond(submittedMs)).toBeLessThanOrEqual(10)
    await gateway.close()
  })

  test('the rate is kept when the provider fails every other submit and messages are retried', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, {
      account,
      retryPolicy: { maxAttempts: 8, backoffMs: 700 },
    })
    const submittedMs: number[] = []
    gateway.act(nth => {
      submittedMs.push(app.now())
      return nth % 2 === 0 ? notNow : taken(nth)
    })
    const id = await begin(account, 5, bulkRows(20), { live: true })
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts.sent).toBe(20)
    expect(submittedMs).toHaveLength(39)
    expect(mostInASecond(submittedMs)).toBe(5)
    await gateway.close()
  })

  test('messages that wait for a retry are held while the job is paused', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, {
      account,
      retryPolicy: { maxAttempts: 8, backoffMs: 500 },
    })
    gateway.act(nth => (nth <= 3 ? notNow : taken(nth)))
    const id = await begin(account, 10, bulkRows(3), { live: true })
    const byLiveKey = (verb: string) =>
      app.call(`/api/v2/messages/bulk/${id}/${verb}`, { method: 'POST', key: account.liveKey })
    await app.until(
      async () => gateway.peer.requests.length,
      count => count === 3,
    )
    await byLiveKey('pause')
    await app.pass(5_000)
    expect(gateway.peer.requests).toHaveLength(3)
    await byLiveKey('resume')
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts.sent).toBe(3)
    expect(gateway.peer.requests).toHaveLength(6)
    await gateway.close()
  })

  test('pausing and resuming repeatedly does not exceed the rate', async () => {
    const account = await app.createAccount({ plan: { name: 'p', bulkCeilingPerSecond: 20 } })
    const id = await begin(account, 2, bulkRows(16))
    // Keeps the account's bulk lane on its node.
    const other = await begin(account, 1, bulkRows(40))
    await untilBulk(app, account, id, 'running')
    for (let at = 0; at < 6; at++) {
      const before = (await sentTimes(app, id)).length
      await app.until(
        () => sentTimes(app, id),
        times => times.length > before,
      )
      await post(account, id, 'pause')
      await app.pass(300)
      await post(account, id, 'resume')
    }
    await untilBulk(app, account, id, 'completed')
    expect(mostInASecond(await sentTimes(app, id))).toBe(2)
    await post(account, other, 'cancel')
  })

  test('a job is paused and resumed by the user, and completed ones conflict', async () => {
    const account = await app.createAccount()
    const id = await begin(account, 2, bulkRows(12))
    await app.until(
      () => readBulk(app, account, id),
      job => job.counts.sent >= 2,
    )
    const paused = await post(account, id, 'pause')
    expect(paused.status).toBe(200)
    expect(paused.body).toEqual({
      success: true,
      job: expect.objectContaining({ id, status: 'paused', pauseReason: 'user' }),
    })
    expect((await post(account, id, 'pause')).status).toBe(200)
    await app.pass(2_000)
    const still = (await sentTimes(app, id)).length
    await app.pass(3_000)
    expect(await sentTimes(app, id)).toHaveLength(still)

    const resumed = await post(account, id, 'resume')
    expect(resumed.body['job']).toMatchObject({ status: 'queued', pauseReason: null })
    await untilBulk(app, account, id, 'running')
    expect((await post(account, id, 'resume')).body['job']).toMatchObject({ status: 'running' })
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toEqual({ pending: 0, sent: 12, failed: 0, cancelled: 0 })
    expect(mostInASecond(await sentTimes(app, id))).toBe(2)
    for (const verb of ['pause', 'resume', 'cancel']) {
      const late = await post(account, id, verb)
      expect([late.status, late.body['code']]).toEqual([409, 'JOB_STATE_CONFLICT'])
    }
  })

  test('a job that is paused while it is validated is paused once it is valid, and sends nothing', async () => {
    const account = await app.createAccount()
    // So many that they are not validated yet when the pause arrives.
    const id = await begin(account, 10, bulkRows(5_000))
    const paused = await post(account, id, 'pause')
    expect(paused.status).toBe(200)
    expect(paused.body['job']).toMatchObject({ status: 'validating', pauseReason: null })
    const job = await untilBulk(app, account, id, 'paused')
    expect(job).toMatchObject({ pauseReason: 'user', validatedCount: 5_000 })
    await app.pass(2_000)
    expect(await sentTimes(app, id)).toEqual([])
    expect((await post(account, id, 'resume')).body['job']).toMatchObject({ status: 'queued' })
    await untilBulk(app, account, id, 'running')
    expect((await post(account, id, 'cancel')).status).toBe(200)
  })

  test('a pause that is taken back while the job is validated has no effect, nor has one of a rejected job', async () => {
    const account = await app.createAccount()
    const id = await begin(account, 10, bulkRows(5_000))
    await post(account, id, 'pause')
    expect((await post(account, id, 'resume')).body['job']).toMatchObject({ status: 'validating' })
    await untilBulk(app, account, id, 'running')
    expect((await post(account, id, 'cancel')).status).toBe(200)

    const wrong = await begin(account, 10, [...bulkRows(5_000), { to: 'nobody' }])
    expect((await post(account, wrong, 'pause')).status).toBe(200)
    const rejected = await untilBulk(app, account, wrong, 'rejected')
    expect(rejected).toMatchObject({ pauseReason: null, errorCode: 'VALIDATION_FAILED' })
  })

  test('a test key may not pause, resume or cancel a live job', async () => {
    const account = await app.createAccount()
    const id = await begin(account, 1, bulkRows(5), { live: true })
    for (const verb of ['pause', 'resume', 'cancel']) {
      const answer = await post(account, id, verb)
      expect([answer.status, answer.body['code']], verb).toEqual([403, 'FORBIDDEN'])
    }
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toEqual({ pending: 0, sent: 5, failed: 0, cancelled: 0 })
  })

  test('a cancelled job sends nothing more, and counts its unsent rows as cancelled', async () => {
    const account = await app.createAccount()
    const id = await begin(account, 2, bulkRows(20))
    await app.until(
      () => readBulk(app, account, id),
      job => job.counts.sent >= 2,
    )
    const cancelled = await post(account, id, 'cancel')
    expect(cancelled.body['job']).toMatchObject({ status: 'cancelled' })
    const { counts } = await app.until(
      () => readBulk(app, account, id),
      job => job.counts.pending === 0,
    )
    expect(counts.sent).toBe((await sentTimes(app, id)).length)
    expect(counts.sent + counts.cancelled).toBe(20)
    await app.pass(3_000)
    expect((await sentTimes(app, id)).length).toBe(counts.sent)
    const rows = await readBulkRows(account, id, '?limit=500')
    expect(rows.filter(row => row.status === 'cancelled')).toHaveLength(counts.cancelled)
    expect(await readBulkRows(account, id, '?status=cancelled&limit=500')).toHaveLength(counts.cancelled)
    expect((await post(account, id, 'cancel')).status).toBe(409)
  })

  test('cancelling a job cancels its messages that wait for the provider', async () => {
    const account = await app.createAccount()
    // The first message pauses the account's lane for 5 s.
    const id = await begin(account, 10, [
      { to: '+12025550006', channel: 'local_sms', content: { text: 'throttled' } },
      ...bulkRows(3),
    ])
    await app.until(
      () => account.messages(`?to=${encodeURIComponent('+12025550006')}`),
      ([first]) => first?.status === 'queued',
    )
    await post(account, id, 'cancel')
    const job = await app.until(
      () => readBulk(app, account, id),
      read => read.counts.pending === 0,
    )
    expect(job.counts.cancelled).toBeGreaterThan(0)
    expect((await readBulkRows(account, id))[0]!.status).toBe('cancelled')
  })
})

const toSix = (amount: number) => Number(amount.toFixed(6))

describe('rows that wait for a slow connection', () => {
  const slow = { maxConnections: 1, messagesPerSecond: 1 }
  const headers = { 'content-type': 'application/json', 'retry-after': '600' }
  const rests: PeerAct = { status: 429, headers, body: '{"error":"slower"}' }

  test('stay while their job is paused, and leave once it is resumed', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account, config: slow })
    const id = await begin(account, 10, bulkRows(15), { live: true })
    await app.until(
      async () => gateway.peer.requests.length,
      count => count >= 2,
    )
    expect(
      (await app.call(`/api/v2/messages/bulk/${id}/pause`, { method: 'POST', key: account.liveKey })).status,
    ).toBe(200)
    await app.pass(1_000)
    const left = gateway.peer.requests.length
    await app.pass(10_000)
    expect(gateway.peer.requests).toHaveLength(left)
    await app.call(`/api/v2/messages/bulk/${id}/resume`, { method: 'POST', key: account.liveKey })
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toEqual({ pending: 0, sent: 15, failed: 0, cancelled: 0 })
    expect(gateway.peer.requests).toHaveLength(15)
    await gateway.close()
  })

  test('leave the account’s rate to other jobs while the provider throttles', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account, config: slow })
    gateway.act(nth => (nth === 1 ? taken(nth) : rests))
    const chat = await startChatGateway(app, { account })
    chat.act(nth => ({ status: 200, headers, body: JSON.stringify({ messages: [{ id: `wamid.${nth}` }] }) }))
    const throttled = await begin(account, 10, bulkRows(60), { live: true })
    await untilBulk(app, account, throttled, 'paused')
    const rows = bulkRows(40, { channel: 'official_chatapp', messageType: 'free_text' })
    const other = await begin(account, 10, rows, { live: true })
    await app.pass(7_000)
    expect(await readBulk(app, account, other)).toMatchObject({ status: 'completed', counts: { sent: 40 } })
    expect(await readBulk(app, account, throttled)).toMatchObject({ status: 'paused', counts: { sent: 1 } })
    await gateway.close()
    await chat.close()
  })

  test('do so also when another message was throttled, and all rows of their job wait', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account, config: slow })
    gateway.act(nth => (nth < 6 ? taken(nth) : rests))
    const chat = await startChatGateway(app, { account })
    chat.act(nth => ({ status: 200, headers, body: JSON.stringify({ messages: [{ id: `wamid.${nth}` }] }) }))
    const text = { content: { text: 'Hello' }, channel: 'local_sms', messageType: 'utility' }
    const singles = Array.from({ length: 9 }, (_, at) => ({ to: `+1202555900${at}`, ...text }))
    await app.during(Promise.all(singles.map(body => account.send(body, { live: true }))))
    const waiting = await begin(account, 10, bulkRows(10), { live: true })
    await app.until(
      () => sentTimes(app, waiting),
      times => times.length === 10,
    )
    await app.until(
      async () => gateway.peer.requests.length,
      count => count === 6,
    )
    const rows = bulkRows(40, { channel: 'official_chatapp', messageType: 'free_text' })
    const other = await begin(account, 10, rows, { live: true })
    await app.pass(7_000)
    expect(await readBulk(app, account, other)).toMatchObject({ status: 'completed', counts: { sent: 40 } })
    expect(await readBulk(app, account, waiting)).toMatchObject({ status: 'paused', counts: { sent: 0 } })
    await gateway.close()
    await chat.close()
  })

  test('do so also when they are due again while the provider throttles', async () => {
    const account = await app.createAccount({ balance: 100, plan: { name: 'p', bulkCeilingPerSecond: 2 } })
    const gateway = await startSmsGateway(app, {
      account,
      retryPolicy: { maxAttempts: 8, backoffMs: 20_000 },
    })
    const chat = await startChatGateway(app, { account })
    chat.act(nth => ({ status: 200, headers, body: JSON.stringify({ messages: [{ id: `wamid.${nth}` }] }) }))
    gateway.act(notNow)
    const retried = await begin(account, 2, bulkRows(2), { live: true })
    await app.until(
      async () => gateway.peer.requests.length,
      count => count === 2,
    )
    gateway.act(rests)
    const single = {
      to: '+12025559000',
      channel: 'local_sms',
      messageType: 'utility',
      content: { text: 'Hi' },
    }
    await app.during(account.send(single, { live: true }))
    await app.pass(30_000)
    const rows = bulkRows(6, { channel: 'official_chatapp', messageType: 'free_text' })
    const other = await begin(account, 2, rows, { live: true })
    await app.pass(6_000)
    expect(await readBulk(app, account, other)).toMatchObject({ status: 'completed', counts: { sent: 6 } })
    expect(await readBulk(app, account, retried)).toMatchObject({ status: 'paused', counts: { pending: 2 } })
    gateway.act(taken)
    await app.leap(600_000)
    const done = await untilBulk(app, account, retried, 'completed')
    expect(done.counts).toMatchObject({ sent: 2, failed: 0 })
    await gateway.close()
    await chat.close()
  })

  test('count towards the account’s rate also if its lane is lost and taken anew meanwhile', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account, config: slow })
    const chat = await startChatGateway(app, { account })
    const leftMs: number[] = []
    gateway.act(nth => {
      leftMs.push(app.now())
      return taken(nth)
    })
    chat.act(nth => {
      leftMs.push(app.now())
      return { status: 200, headers, body: JSON.stringify({ messages: [{ id: `wamid.${nth}` }] }) }
    })
    const waiting = await begin(account, 10, bulkRows(10), { live: true })
    await app.until(
      () => sentTimes(app, waiting),
      times => times.length === 10,
    )
    const rows = bulkRows(60, { channel: 'official_chatapp', messageType: 'free_text' })
    const other = await begin(account, 10, rows, { live: true })
    await app.until(
      () => readBulk(app, account, other),
      job => job.counts.sent > 0,
    )
    await app.db.query({
      name: 't_take_lane',
      text: 'update bulk_lanes set fence = fence + 1 where account_id = $1',
      values: [toUuid(account.id as `acc_${string}`)],
    })
    await untilBulk(app, account, other, 'completed')
    await untilBulk(app, account, waiting, 'completed')
    expect(leftMs).toHaveLength(70)
    expect(mostInASecond(leftMs)).toBeLessThanOrEqual(10)
    await gateway.close()
    await chat.close()
  })
})

describe('a bulk job is paused automatically', () => {
  test('when the balance is insufficient, until it is credited', async () => {
    const account = await app.createAccount({ balance: 0 })
    const estimate = await app.call('/api/v2/messages/estimate', {
      method: 'POST',
      key: account.testKey,
      body: bulkRows(1)[0],
    })
    const price = (estimate.body['data'] as { billing: { estimatedCost: number } }).billing.estimatedCost
    await app.admin('POST', `/accounts/${account.id}/credits`, {
      amount: toSix(2.5 * price),
      note: 'for two',
    })
    const id = await begin(account, 10, bulkRows(6), { live: true })
    const paused = await untilBulk(app, account, id, 'paused')
    expect(paused.pauseReason).toBe('insufficient_balance')
    expect(await sentTimes(app, id)).toHaveLength(2)
    await app.pass(2_000)
    expect((await readBulk(app, account, id)).status).toBe('paused')
    await app.admin('POST', `/accounts/${account.id}/credits`, { amount: toSix(4 * price), note: 'more' })
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toMatchObject({ sent: 6, failed: 0 })
    const { balance, held, captured, credited } = await account.wallet()
    expect(held).toBe(0)
    expect(balance + captured).toBeCloseTo(credited, 6)
    expect(captured).toBeCloseTo(6 * price, 6)
  })

  test('while the provider throttles', async () => {
    const account = await app.createAccount()
    const id = await begin(account, 1, [
      { to: '+12025550006', channel: 'local_sms', content: { text: 'throttled' } },
      ...bulkRows(3),
    ])
    const paused = await untilBulk(app, account, id, 'paused')
    expect(paused.pauseReason).toBe('provider_rate_limit')
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toMatchObject({ sent: 4 })
  })

  test.each([10, 1])('while the provider throttles for a second at a time, at %i/s', async perSecond => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account })
    const submittedMs: number[] = []
    const act = (next: (nth: number) => PeerAct) =>
      gateway.act(nth => {
        submittedMs.push(app.now())
        return next(nth)
      })
    act(() => slowDown)
    const id = await begin(account, perSecond, bulkRows(5), { live: true })
    const paused = await untilBulk(app, account, id, 'paused')
    expect(paused.pauseReason).toBe('provider_rate_limit')
    // Goes on by itself, and is paused again.
    const refused = submittedMs.length
    await app.until(
      async () => submittedMs.length,
      count => count > refused,
    )
    await untilBulk(app, account, id, 'paused')
    act(taken)
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toEqual({ pending: 0, sent: 5, failed: 0, cancelled: 0 })
    expect(mostInASecond(submittedMs)).toBeLessThanOrEqual(perSecond)
    await gateway.close()
  })
})

test('a bulk job waits while its provider fails for half a minute: no row fails, the rate is kept', async () => {
  const account = await app.createAccount({ balance: 100 })
  const gateway = await startSmsGateway(app, {
    account,
    retryPolicy: { maxAttempts: 8, backoffMs: 2_000 },
  })
  const takenMs: number[] = []
  const id = await begin(account, 10, bulkRows(60), { live: true })
  await app.until(
    async () => gateway.peer.requests.length,
    count => count >= 3,
  )
  gateway.act(notNow)
  await app.pass(30_000)
  const waits = await readBulk(app, account, id)
  expect(waits).toMatchObject({ status: 'running', counts: { failed: 0 } })
  const list = await app.call(`/api/v2/messages?bulkJobId=${id}&limit=100`, { key: account.liveKey })
  // Messages that were sent, that failed first, and that probed whether it works again.
  expect((list.body['data'] as object[]).length).toBeLessThan(25)
  gateway.act(nth => {
    takenMs.push(app.now())
    return taken(nth)
  })
  const done = await untilBulk(app, account, id, 'completed')
  expect(done.counts).toEqual({ pending: 0, sent: 60, failed: 0, cancelled: 0 })
  expect(mostInASecond(takenMs)).toBeLessThanOrEqual(10)
  await gateway.close()
})

describe('bulk rows whose connection is disabled', () => {
  const patch = (connectionId: string, body: object) =>
    app.admin('PATCH', `/connections/${connectionId}`, body)

  test('wait until it is enabled again, while other jobs of the account continue', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account })
    const id = await begin(account, 10, bulkRows(20), { live: true })
    await app.until(
      async () => gateway.peer.requests.length,
      count => count >= 3,
    )
    await patch(gateway.connectionId, { enabled: false })
    await untilBulk(app, account, id, 'queued')
    const other = await begin(account, 10, bulkRows(5))
    await untilBulk(app, account, other, 'completed')
    await app.pass(3_000)
    const waits = await readBulk(app, account, id)
    expect(waits).toMatchObject({ status: 'queued', counts: { failed: 0, cancelled: 0 } })
    expect(waits.counts.pending).toBeGreaterThan(0)

    await patch(gateway.connectionId, { enabled: true })
    await untilBulk(app, account, id, 'running')
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts).toEqual({ pending: 0, sent: 20, failed: 0, cancelled: 0 })
    expect(gateway.peer.requests).toHaveLength(20)
    await gateway.close()
  })

  test('fail when the connection is deleted', async () => {
    const account = await app.createAccount({ balance: 100 })
    const gateway = await startSmsGateway(app, { account })
    const id = await begin(account, 10, bulkRows(20), { live: true })
    await app.until(
      async () => gateway.peer.requests.length,
      count => count >= 3,
    )
    // Keeps another connection, because live messages do not go to the sandbox while there is one.
    const inPlace = await startSmsGateway(app, { account, allowedTypes: ['otp'] })
    await patch(gateway.connectionId, { enabled: false })
    await untilBulk(app, account, id, 'queued')
    await app.admin('DELETE', `/connections/${gateway.connectionId}`)
    const done = await untilBulk(app, account, id, 'completed')
    expect(done.counts.sent).toBeGreaterThanOrEqual(3)
    expect(done.counts.sent + done.counts.failed).toBe(20)
    const failed = await readBulkRows(account, id, '?status=failed')
    expect(new Set(failed.map(row => row.errorCode))).toContain('VALIDATION_ERROR')
    await gateway.close()
    await inPlace.close()
  })
})

test('a message with an unknown outcome counts as pending in its bulk job until it is settled', async () => {
  const account = await app.createAccount()
  const id = await begin(account, 10, [
    { to: '+12025550005', channel: 'local_sms', content: { text: 'unknown' } },
    ...bulkRows(2),
  ])
  const running = await app.until(
    () => readBulk(app, account, id),
    job => job.counts.sent === 2,
  )
  expect(running).toMatchObject({ status: 'running', counts: { pending: 1 } })
  await app.leap(31_000)
  expect((await readBulk(app, account, id)).counts.pending).toBe(1)
  await app.leap(24 * 3_600_000)
  expect((await untilBulk(app, account, id, 'completed')).counts).toMatchObject({ pending: 0, sent: 3 })
})

test('a row that becomes invalid after validation fails alone', async () => {
  const account = await app.createAccount()
  const template = await app.call('/api/v2/templates', {
    method: 'POST',
    key: account.liveKey,
    body: { name: 'gone_soon', category: 'sms', subType: 'utility', content: 'Hello {{1}}' },
  })
  const { id: templateId } = (template.body['data'] as { template: { id: string } }).template
  const use = { template: { id: templateId, variablesIndexed: ['you'] } }
  const id = await begin(account, 1, [...bulkRows(2), { to: '+12025552999', channel: 'local_sms', ...use }])
  await untilBulk(app, account, id, 'running')
  await app.call(`/api/v2/templates/${templateId}/disable`, { method: 'POST', key: account.liveKey })
  const done = await untilBulk(app, account, id, 'completed')
  expect(done.counts).toEqual({ pending: 0, sent: 2, failed: 1, cancelled: 0 })
  expect((await readBulkRows(account, id, '?status=failed'))[0]).toMatchObject({
    index: 2,
    messageId: null,
    errorCode: 'VALIDATION_ERROR',
  })
})

test('the event stream of a bulk job sends its progress, and ends with the job', async () => {
  const account = await app.createAccount()
  const id = await begin(account, 4, bulkRows(8))
  const response = await fetch(`${app.url}/api/v2/messages/bulk/${id}/events`, {
    headers: { 'x-api-key': account.testKey },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const text = await app.during(response.text())
  const jobs = text
    .split('\n\n')
    .filter(event => event.startsWith('event: job\ndata: '))
    .map(event => JSON.parse(event.slice('event: job\ndata: '.length)) as BulkJob)
  const statuses = jobs.map(job => job.status).filter((status, at, all) => status !== all[at - 1])
  expect(statuses.at(-1)).toBe('completed')
  expect(statuses).toContain('running')
  expect(jobs.map(job => job.counts.sent)).toEqual(jobs.map(job => job.counts.sent).toSorted((a, b) => a - b))
  expect(jobs.at(-1)!.counts).toEqual({ pending: 0, sent: 8, failed: 0, cancelled: 0 })
})

test('the event stream of a cancelled bulk job continues until its in-flight messages are settled', async () => {
  const account = await app.createAccount()
  const id = await begin(account, 10, [
    { to: '+12025550005', channel: 'local_sms', content: { text: 'unknown' } },
    ...bulkRows(2),
  ])
  await app.until(
    () => readBulk(app, account, id),
    job => job.counts.sent === 2,
  )
  const response = await fetch(`${app.url}/api/v2/messages/bulk/${id}/events`, {
    headers: { 'x-api-key': account.testKey },
  })
  const text = response.text()
  const cancelled = await post(account, id, 'cancel')
  expect(cancelled.body['job']).toMatchObject({ status: 'cancelled', counts: { pending: 1, sent: 2 } })
  await app.leap(31_000)
  await app.leap(24 * 3_600_000)
  const jobs = (await app.during(text))
    .split('\n\n')
    .filter(event => event.startsWith('event: job\ndata: '))
    .map(event => JSON.parse(event.slice('event: job\ndata: '.length)) as BulkJob)
  expect(jobs.at(-1)).toMatchObject({ status: 'cancelled', counts: { pending: 0, sent: 3, cancelled: 0 } })
})

test('event streams whose clients disconnect free their slots at once', async () => {
  const account = await app.createAccount()
  const id = await begin(account, 1, bulkRows(3))
  await post(account, id, 'pause')
  const gone = new AbortController()
  const open = (signal?: AbortSignal) =>
    fetch(`${app.url}/api/v2/messages/bulk/${id}/events`, {
      headers: { 'x-api-key': account.testKey },
      ...(signal && { signal }),
    })
  const streams = await Promise.all(Array.from({ length: 50 }, () => open(gone.signal)))
  expect(new Set(streams.map(stream => stream.status))).toEqual(new Set([200]))
  const more = await open()
  expect([more.status, more.headers.has('retry-after')]).toEqual([429, true])
  await more.body!.cancel()
  gone.abort()
  // The test clock stands still, so only the closed connections can free a slot.
  let next = await open()
  for (let looks = 0; next.status !== 200 && looks < 500; looks++) {
    await next.body!.cancel()
    next = await open()
  }
  expect(next.status).toBe(200)
  await next.body!.cancel()
  await post(account, id, 'cancel')
})

test('webhook events are created for each change of a bulk job’s status', async () => {
  const account = await app.createAccount()
  await app.db.query({
    name: 't_listen',
    text: 'update accounts set event_types = $2 where id = $1',
    values: [
      toUuid(account.id as `acc_${string}`),
      ['bulk.queued', 'bulk.running', 'bulk.paused', 'bulk.completed', 'bulk.cancelled', 'bulk.rejected'],
    ],
  })
  const id = await begin(account, 2, bulkRows(6))
  await untilBulk(app, account, id, 'running')
  await post(account, id, 'pause')
  await post(account, id, 'resume')
  await untilBulk(app, account, id, 'running')
  await untilBulk(app, account, id, 'completed')
  const { rows } = await app.db.query<{ type: string; data: { jobId: string; total: number } }>({
    name: 't_bulk_events',
    text: 'select type, data from events where account_id = $1 order by id',
    values: [toUuid(account.id as `acc_${string}`)],
  })
  expect(rows.map(row => row.type)).toEqual([
    'bulk.queued',
    'bulk.running',
    'bulk.paused',
    'bulk.queued',
    'bulk.running',
    'bulk.completed',
  ])
  expect(rows.at(-1)!.data).toMatchObject({ jobId: toUuid(id as `job_${string}`), sent: 6, total: 6 })
})
