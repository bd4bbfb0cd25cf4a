import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Estimate } from '../../../src/contract/estimate.ts'
import type { BatchResult } from '../../../src/contract/send.ts'
import { toIso } from '../../../src/lib/clock.ts'
import { type Id, toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 100 })
})
afterAll(() => app.stop())

const numbers = (count: number) => Array.from({ length: count }, (_, at) => `+1202555${1000 + at}`)
const batchOf = (answer: { body: Record<string, unknown> }) => answer.body as unknown as BatchResult

test('a batch queues a message for each recipient, in order, and responds without waiting', async () => {
  const to = numbers(100)
  const answer = await account.send({ to, text: 'Hello' })
  expect(answer.status, answer.text).toBe(200)
  const batch = batchOf(answer)
  expect(Object.keys(batch).sort()).toEqual(['batch', 'requestId', 'results', 'success', 'summary'])
  expect(batch).toMatchObject({
    success: true,
    batch: true,
    summary: { total: 100, sent: 0, queued: 100, failed: 0 },
  })
  expect(batch.results.map(result => result.to)).toEqual(to)
  expect(batch.results.every(result => result.success && result.status === 'queued')).toBe(true)
  expect(new Set(batch.results.map(result => result.requestId)).size).toBe(100)
  expect(answer.headers.get('x-sandbox')).toBe('true')
  const first = batch.results[0]!
  expect(await account.message(first.messageId!)).toMatchObject({ to: to[0], requestId: first.requestId })
})

test('a batch validates each recipient on its own', async () => {
  const batch = batchOf(
    await account.send({
      to: ['+12025550123', '+447700900123', 'a@example.com'],
      channel: 'email_user',
      content: { text: 'x', subject: 's' },
    }),
  )
  expect(batch.results.map(result => [result.success, result.code])).toEqual([
    [false, 'VALIDATION_ERROR'],
    [false, 'VALIDATION_ERROR'],
    [true, undefined],
  ])
})

test('a batch routes, prices and accepts each recipient on its own', async () => {
  const own = await app.createAccount()
  const to = ['+12025550123', '+447700900123', 'a@example.com']
  const body = { text: 'x', messageType: 'utility' }
  const batch = batchOf(await own.send({ to, ...body }, { live: true }))
  const messages = await Promise.all(batch.results.map(({ messageId }) => own.message(messageId!)))
  const estimates = await Promise.all(
    to.map(each =>
      app.call('/api/v2/messages/estimate', {
        method: 'POST',
        key: own.liveKey,
        body: { ...body, to: each },
      }),
    ),
  )
  expect(messages.map(message => [message.to, message.channel])).toEqual([
    ['+12025550123', 'local_sms'],
    ['+447700900123', 'int_sms'],
    ['a@example.com', 'email_user'],
  ])
  const costs = messages.map(({ billing }) => billing.cost)
  expect(new Set(costs).size).toBe(3)
  expect(costs).toEqual(estimates.map(({ body }) => (body['data'] as Estimate).billing!.estimatedCost))
  const { credited, balance } = await own.wallet()
  expect(credited - balance).toBeCloseTo(
    costs.reduce((sum, cost) => sum + cost, 0),
    6,
  )
})

test('an invalid recipient fails alone: the response is 207, and the others are queued', async () => {
  const answer = await account.send({ to: ['+12025550123', 'nobody', '+12025550124'], text: 'x' })
  expect(answer.status).toBe(207)
  expect(batchOf(answer)).toMatchObject({
    success: true,
    summary: { total: 3, sent: 0, queued: 2, failed: 1 },
    results: [
      { success: true },
      { success: false, status: 'failed', code: 'VALIDATION_ERROR' },
      { success: true },
    ],
  })
})

test.each([
  ['says nothing', {}, 400, 'VALIDATION_ERROR'],
  [
    'is for yesterday',
    { text: 'x', options: { scheduleAt: '2020-01-01T00:00:00Z' } },
    400,
    'VALIDATION_ERROR',
  ],
  [
    'is for a time that the plan does not allow',
    { text: 'x', options: { scheduleAt: tomorrow() } },
    403,
    'FORBIDDEN',
  ],
])(
  'a batch that %s is rejected as a whole, and the response is replayed',
  async (what, body, status, code) => {
    const plain = await app.createAccount({ plan: { allowsScheduling: false } })
    const refused = () => plain.send({ to: numbers(2), ...body }, { idempotencyKey: what })
    const first = await refused()
    expect([first.status, first.body['code']]).toEqual([status, code])
    const again = await refused()
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  },
)

function tomorrow(): string {
  return new Date(Date.now() + 86_400_000).toISOString()
}

test('a batch whose recipients all fail is 207 without success', async () => {
  const answer = await account.send({ to: ['nobody', 'no one'], text: 'x' })
  expect(answer.status).toBe(207)
  expect(batchOf(answer)).toMatchObject({
    success: false,
    summary: { total: 2, sent: 0, queued: 0, failed: 2 },
  })
})

test('a batch is paid in order, for as many recipients as the wallet covers', async () => {
  const price = (await account.send({ to: '+12025550123', text: 'x' })).body as {
    billing: { estimatedCost: number }
  }
  const poor = await app.createAccount({ balance: price.billing.estimatedCost * 2 })
  const batch = batchOf(await poor.send({ to: numbers(4), text: 'x' }, { live: true }))
  expect(batch.results.map(result => result.code)).toEqual([
    undefined,
    undefined,
    'INSUFFICIENT_BALANCE',
    'INSUFFICIENT_BALANCE',
  ])
  expect((await poor.wallet()).balance).toBe(0)
})

test('a recipient given twice gets two messages', async () => {
  const batch = batchOf(await account.send({ to: ['+12025550199', '+12025550199'], text: 'x' }))
  expect(new Set(batch.results.map(result => result.messageId)).size).toBe(2)
})

test('a batch can be scheduled', async () => {
  const options = { scheduleAt: new Date(Date.now() + 3_600_000).toISOString() }
  const batch = batchOf(await account.send({ to: numbers(2), text: 'x', options }))
  expect(batch.results.map(result => result.status)).toEqual(['scheduled', 'scheduled'])
  expect(batch.summary.queued).toBe(2)
})

test('a scheduled batch is replayed even after its time has passed', async () => {
  const options = { scheduleAt: new Date(app.now() + 2_000).toISOString() }
  const body = { to: numbers(2), text: 'later', options }
  const first = await account.send(body, { idempotencyKey: 'past' })
  await app.pass(3_000)
  const again = await account.send(body, { idempotencyKey: 'past' })
  expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
    200,
    first.text,
    'true',
  ])
  expect((await account.send(body)).status).toBe(400)
})

test('a batch is replayed as a whole, and its key conflicts with another body', async () => {
  const body = { to: ['+12025550123', 'nobody'], text: 'once' }
  const first = await account.send(body, { idempotencyKey: 'batch-1' })
  const second = await account.send(body, { idempotencyKey: 'batch-1' })
  expect(second.status).toBe(first.status)
  expect(second.text).toBe(first.text)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  const other = await account.send({ ...body, text: 'twice' }, { idempotencyKey: 'batch-1' })
  expect(other.status).toBe(409)
  expect(other.body['code']).toBe('IDEMPOTENCY_KEY_CONFLICT')
})

test('one of twenty concurrent batches with the same key is accepted', async () => {
  const body = { to: ['+12025550177', '+12025550178'], text: 'race' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => account.send(body, { idempotencyKey: 'race' })),
  )
  const responseTexts = new Set(answers.filter(answer => answer.status === 200).map(answer => answer.text))
  expect(responseTexts.size).toBe(1)
  expect(answers.every(answer => answer.status === 200 || answer.status === 409)).toBe(true)
  expect(await account.messages('?to=%2B12025550177')).toHaveLength(1)
})

test('a batch interrupted by a crash is completed by the next request with its key', async () => {
  const body = { to: ['+12025550188', '+12025550189'], text: 'crash' }
  const first = await account.send(body, { idempotencyKey: 'crash' })
  const [kept, lost] = batchOf(first).results.map(result => toUuid(result.messageId as Id))
  // As if the process had crashed after it accepted the first message and before the second.
  await app.db.query({ name: 't_lose', text: 'delete from messages where id = $1', values: [lost] })
  await app.db.query({
    name: 't_lose_outbox',
    text: 'delete from outbox where message_id = $1',
    values: [lost],
  })
  await app.db.query({
    name: 't_unfinish',
    text: `update idempotency set status = null, body = null, batch_at = '2000-01-01' where key = 'crash'`,
  })
  const again = await account.send(body, { idempotencyKey: 'crash' })
  expect(again.status).toBe(200)
  expect(batchOf(again).results.map(result => toUuid(result.messageId as Id))).toEqual([kept, lost])
  expect(await account.messages('?to=%2B12025550188')).toHaveLength(1)
  expect(await account.messages('?to=%2B12025550189')).toHaveLength(1)
  expect((await account.send(body, { idempotencyKey: 'crash' })).text).toBe(again.text)
})

test('a batch that was interrupted by a crash more than 24 hours ago does not hold its key', async () => {
  const body = { to: ['+12025550182', '+12025550183'], text: 'crash' }
  const first = await account.send(body, { idempotencyKey: 'crash-yesterday' })
  // As if the process had crashed before it stored the response, and the sweep of old keys had not run yet.
  await app.db.query({
    name: 't_unfinish_old',
    text: `update idempotency set status = null, body = null, batch_at = '2000-01-01',
             created_at = created_at - interval '25 hours' where key = 'crash-yesterday'`,
  })
  const again = await account.send(body, { idempotencyKey: 'crash-yesterday' })
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null])
  const ids = (answer: typeof first) => batchOf(answer).results.map(result => result.messageId)
  expect(ids(again).filter(id => ids(first).includes(id))).toEqual([])
  expect(await account.messages('?to=%2B12025550182')).toHaveLength(2)
})

test('a message cancelled after such a crash is not sent when the batch is completed', async () => {
  const options = { scheduleAt: new Date(app.now() + 3_600_000).toISOString() }
  const body = { to: ['+12025550186', '+12025550187'], text: 'crash', options }
  const sent = { live: true, idempotencyKey: 'cancelled' }
  const first = await account.send(body, sent)
  const [cancelled] = batchOf(first).results
  const path = `/api/v2/messages/${cancelled!.messageId}/cancel`
  expect((await app.call(path, { method: 'POST', key: account.liveKey })).status).toBe(200)
  await app.db.query({
    name: 't_unfinish_cancelled',
    text: `update idempotency set status = null, body = null, batch_at = '2000-01-01' where key = 'cancelled'`,
  })
  const again = await account.send(body, sent)
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([
    first.text.replace(first.body['requestId'] as string, again.body['requestId'] as string),
    'true',
  ])
  expect(await account.messages('?to=%2B12025550186')).toMatchObject([{ status: 'cancelled' }])
})

test('a batch with a live key sets X-Sandbox when the sandbox accepts a message, also on replay', async () => {
  for (const [to, sandboxHeader] of [
    [['+12025550184', 'nobody'], 'true'],
    [['nobody'], null],
  ] as const) {
    for (const replayed of [null, 'true']) {
      const { headers } = await account.send({ to, text: 'x' }, { live: true, idempotencyKey: `to ${to}` })
      expect([headers.get('idempotency-replayed'), headers.get('x-sandbox')]).toEqual([
        replayed,
        sandboxHeader,
      ])
    }
  }
})

test('a batch is accepted in one transaction, but in several when its texts are long', async () => {
  const own = await app.createAccount()
  const acceptsOf = async () => {
    const { rows } = await app.db.query<{ messages: number; characters: number }>({
      name: 'goes',
      text: `select count(*)::integer as messages, sum(length(content::text))::integer as characters
               from messages where account_id = $1 group by xmin::text`,
      values: [toUuid(own.id as `acc_${string}`)],
    })
    return rows
  }
  const options = { scheduleAt: toIso(app.now() + 3_600_000) }
  expect((await own.send({ to: numbers(100), text: 'x', options })).status).toBe(200)
  expect(await acceptsOf()).toMatchObject([{ messages: 100 }])

  const to = Array.from({ length: 20 }, (_, at) => `ada${at}@example.com`)
  const answer = await own.send({ to, text: 'x'.repeat(500_000), options })
  expect(answer.status).toBe(200)
  expect(answer.body['results']).toMatchObject(to.map(each => ({ to: each, status: 'scheduled' })))
  for (const { characters } of await acceptsOf()) expect(characters).toBeLessThan(4_100_000)
})

test('an empty recipient fails alone', async () => {
  const own = await app.createAccount()
  const answer = await own.send({ to: ['+12025550123', ''], text: 'x' })
  expect(answer.status).toBe(207)
  expect(answer.body).toMatchObject({
    success: true,
    summary: { total: 2, sent: 0, queued: 1, failed: 1 },
    results: [{ status: 'queued' }, { to: '', success: false, status: 'failed', code: 'VALIDATION_ERROR' }],
  })
})

test.each([
  ['an empty list', [], 'to'],
  ['more than a hundred', numbers(101), 'to'],
  ['nested in another array', [['+12025550123']], 'to[0]'],
  ['not all strings', ['+12025550123', 5], 'to[1]'],
])('a batch is rejected when its recipients are: %s', async (_, to, path) => {
  const before = await account.footprint()
  const answer = await account.send({ to, text: 'x' })
  expect(answer.status).toBe(400)
  expect((answer.body['details'] as { path: string }[])[0]?.path).toBe(path)
  expect(await account.footprint()).toEqual(before)
})

test('a batch to several chats of a bot is rejected', async () => {
  const context = { moduleType: 'botapp_bot', accountId: 'bot', chatId: '1' }
  const answer = await account.send({
    to: ['1', '2'],
    text: 'x',
    channel: 'botapp_bot',
    conversationContext: context,
  })
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'to' }] })
})
