import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MessageStats } from '../../../src/contract/stats.ts'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

const HOUR_MS = 3_600_000
/** In the middle of an hour, so that no test runs over its end. */
const START_MS = Date.UTC(2026, 10, 21, 10, 30)

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp({ startMs: START_MS })
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount()
})

async function stats(query = '', key = account.liveKey): Promise<MessageStats> {
  const answer = await app.call(`/api/v2/stats${query}`, { key })
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as MessageStats
}

const send = (to: string, live = true) => account.send({ to, text: 'Hello' }, { live })
const NOTHING = { sent: 0, delivered: 0, undelivered: 0, failed: 0, unknown: 0, cancelled: 0, cost: 0 }

/** Waits until every message has a final status, or is unknown. */
const settled = () =>
  app.during(
    app.until(
      () => app.call('/api/v2/messages?limit=500', { key: account.liveKey }),
      ({ body }) =>
        (body['data'] as { status: string }[]).every(({ status }) =>
          ['delivered', 'read', 'undelivered', 'failed', 'unknown', 'cancelled'].includes(status),
        ),
    ),
  )

describe('message statistics', () => {
  test('count every outcome immediately, before and after the counts are aggregated', async () => {
    expect(await stats()).toMatchObject({
      interval: 'hour',
      mode: 'live',
      currency: 'USD',
      total: NOTHING,
      now: { waiting: 0, waitingMore: false, unknown: 0, unknownMore: false },
      rows: [],
    })
    const taken = await send('+12025550123')
    const { billing } = taken.body as { billing: { estimatedCost: number } }
    expect((await stats()).total).toMatchObject({ sent: 1, cost: billing.estimatedCost })
    // Rejected.
    await account.send({ to: '+12025550002', text: 'Hello', channel: 'local_sms' }, { live: true })
    // Accepted but not delivered, and unknown.
    await send('+12025550004')
    await app.during(send('+12025550005'))
    await account.send({ to: 'ph@example.com', text: 'Hi', content: { subject: 'Hi' } }, { live: true })
    const scheduleAt = new Date(app.now() + HOUR_MS).toISOString()
    const planned = await app.createAccount({ plan: { allowsScheduling: true } })
    await planned.send({ to: '+12025550123', text: 'Later', options: { scheduleAt } }, { live: true })
    const later = (await app.call('/api/v2/stats', { key: planned.liveKey })).body['data'] as MessageStats
    expect(later).toMatchObject({ total: NOTHING, now: { waiting: 1, unknown: 0 } })
    await settled()
    const expected = { sent: 3, delivered: 2, undelivered: 1, failed: 1, unknown: 1, cancelled: 0 }
    const { total, now, rows } = await stats()
    expect(total).toMatchObject(expected)
    expect(now).toEqual({ waiting: 0, waitingMore: false, unknown: 1, unknownMore: false })
    expect(rows).toHaveLength(1)
    const { captured } = await account.wallet()
    expect(total.cost).toBe(captured)

    // The same after aggregation, and by channel.
    await app.pass(3_000)
    expect(await count('message_deltas')).toBe(0)
    expect((await stats()).total).toEqual(total)
    const byChannel = (await stats('?groupBy=channel')).rows
    expect(byChannel).toMatchObject([
      { channel: 'email_user', sent: 1, delivered: 1 },
      { channel: 'local_sms', sent: 2, delivered: 1, undelivered: 1, failed: 1, unknown: 1 },
    ])
    expect((await stats('', account.testKey)).total).toEqual(NOTHING)
  })

  test('count a message that was read as delivered, once', async () => {
    await account.send({ to: '+12025550123', text: 'Hello', channel: 'official_chatapp' })
    const read = () => stats('?groupBy=channel', account.testKey)
    await app.during(
      app.until(
        () => account.messages(),
        messages => messages[0]!.status === 'read',
      ),
    )
    expect((await read()).rows).toMatchObject([
      { channel: 'official_chatapp', sent: 1, delivered: 1, cost: 0 },
    ])
  })

  test('count cancelled messages', async () => {
    account = await app.createAccount({ plan: { allowsScheduling: true } })
    const scheduleAt = new Date(app.now() + HOUR_MS).toISOString()
    const { body } = await account.send(
      { to: '+12025550123', text: 'Later', options: { scheduleAt } },
      { live: true },
    )
    const { messageId } = body['tracking'] as { messageId: string }
    await app.call(`/api/v2/messages/${messageId}/cancel`, { method: 'POST', key: account.liveKey })
    expect(await stats()).toMatchObject({ total: { ...NOTHING, cancelled: 1 }, now: { waiting: 0 } })
  })

  test('are grouped by the hour or day of the events', async () => {
    await send('+12025550123')
    await settled()
    const before = app.now()
    app.jump(HOUR_MS)
    await send('+12025550124')
    await settled()
    const hours = await stats()
    expect(hours.rows.map(({ at, sent, delivered }) => [at, sent, delivered])).toEqual([
      [hourOf(before), 1, 1],
      [hourOf(app.now()), 1, 1],
    ])
    const days = await stats('?interval=day')
    expect(days.rows).toMatchObject([{ at: '2026-11-21T00:00:00.000Z', sent: 2, delivered: 2 }])
    expect(await stats('?to=9999-12-31T23:59:59Z')).toMatchObject({ total: NOTHING, rows: [] })
    const early = await stats(`?from=2026-11-21T00:00:00Z&to=${hourOf(app.now())}`)
    expect([early.from, early.to, early.total.sent]).toEqual([
      '2026-11-21T00:00:00.000Z',
      hourOf(app.now()),
      1,
    ])
  })

  test.each([
    ['interval=week', 'interval'],
    ['groupBy=country', 'groupBy'],
    ['from=yesterday', 'from'],
    ['to=never', 'to'],
    ['from=0000-01-01T00:00:00Z', 'from'],
    ['to=0001-01-01T00:00:00Z', 'from'],
    ['to=9999-12-31T23:59:59-01:00', 'to'],
    ['from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
    ['from=2026-01-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from'],
  ])('are rejected for ?%s', async (query, path) => {
    const refused = await app.call(`/api/v2/stats?${query}`, { key: account.liveKey })
    expect([refused.status, faultPaths(refused)]).toEqual([400, [path]])
  })

  test('are aggregated once when several aggregations run concurrently', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => send(`+1202555${1_100 + at}`)))
    await settled()
    const { total } = await stats()
    const fold = () => app.db.query({ name: 'fold', text: 'select fold_message_deltas(3)' })
    await Promise.all(Array.from({ length: 12 }, fold))
    expect((await stats()).total).toEqual(total)
    expect(total).toMatchObject({ sent: 20, delivered: 20 })
  })
})

function hourOf(atMs: number): string {
  return new Date(Math.floor(atMs / HOUR_MS) * HOUR_MS).toISOString()
}

async function count(table: string): Promise<number> {
  const { rows } = await app.db.query<{ n: number }>({
    name: `count_${table}`,
    text: `select count(*)::integer as n from ${table}`,
  })
  return rows[0]!.n
}
