import { afterAll, beforeAll, expect, test } from 'vitest'
import { LONGEST_DELAYS_MS } from '../../../src/core/callbacks/schedule.ts'
import { recallDeliveries } from '../../../src/core/callbacks/store.ts'
import { acceptSends, beginAttempts, settleAttempts } from '../../../src/core/messages/hot-store.ts'
import { recallWaiting } from '../../../src/core/outbox/reconcile-store.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/lib/durations.ts'
import { createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

/** What was put off by a clock that was ahead is brought back; what waits by a right one is left. */

const NODE = 1
const NOW = Date.UTC(2026, 4, 20)

let database: TestDatabase
let clockMs = NOW
const ids = createIds({ now: () => clockMs, monotonic: () => 0, after: () => () => {} }, createRandom())
const accountId = ids.next('acc')
const connectionId = ids.next('cnn')

beforeAll(async () => {
  database = await createTestDatabase()
  await database.db.query({
    name: 'recall_account',
    text: `insert into accounts (id, name, home_country, currency, plan_name, plan_status, allows_scheduling,
             bulk_ceiling_per_second, rate_limit_per_second, verification_rate_limit_per_second)
           values ($1, 'Acme', 'US', 'USD', 'default', 'active', true, 10, 50, 10)`,
    values: [toUuid(accountId)],
  })
  await database.db.query({
    name: 'recall_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000000, 1000000)',
    values: [toUuid(accountId)],
  })
})
afterAll(() => database.drop())

/** Accepts a message with the clock this far ahead; due after `waitMs` more. Scheduled, or it waits for its lane. */
async function accept(aheadMs: number, waitMs: number, scheduled: boolean): Promise<MessageId> {
  clockMs = NOW + aheadMs
  const dueAt = clockMs + waitMs
  const row = acceptRow(
    { accountId, id: ids.next('msg'), connectionId, dueAt },
    {
      status: scheduled ? 'scheduled' : 'queued',
      scheduledAt: scheduled ? dueAt : null,
      owned: false,
      begun: false,
    },
  )
  await acceptSends(database.db, NODE, clockMs, [row], false)
  return row.id
}

/** Accepts a message now, and makes an attempt with the clock this far ahead. */
async function attempt(aheadMs: number, kind: 'queued' | 'unknown', waitMs: number): Promise<MessageId> {
  clockMs = NOW
  const row = acceptRow(
    { accountId, id: ids.next('msg'), connectionId, dueAt: NOW },
    { status: 'queued', begun: false },
  )
  const atMs = NOW + aheadMs
  await acceptSends(database.db, NODE, NOW, [row], false)
  await beginAttempts(database.db, NODE, atMs, [row], false)
  const settle = settleRow({ ...row, eventId: ids.next('evt') }, { kind, dueAt: atMs + waitMs })
  await settleAttempts(database.db, atMs, [settle], false)
  return row.id
}

/** How long after NOW each message is due. */
async function duesOf(
  messageIds: readonly MessageId[],
  column: 'due_at' | 'ask_at' = 'due_at',
): Promise<number[]> {
  const { rows } = await database.db.query<{ message_id: string; at: Date }>({
    name: `recall_${column}`,
    text: `select message_id, ${column} as at from outbox where account_id = $1`,
    values: [toUuid(accountId)],
  })
  return messageIds.map(id => rows.find(row => row.message_id === toUuid(id))!.at.getTime() - NOW)
}

const recall = () => recallWaiting(database.db, NOW, HOUR_MS, DAY_MS)

test('messages that a clock ahead put off are due again, those of a right clock and scheduled ones are not', async () => {
  const put = [
    await accept(5 * HOUR_MS, 0, false),
    await attempt(5 * HOUR_MS, 'queued', SECOND_MS),
    await attempt(400 * DAY_MS, 'queued', HOUR_MS),
  ]
  const left = [
    await accept(0, 300 * DAY_MS, true),
    await accept(5 * HOUR_MS, DAY_MS, true),
    await accept(0, 0, false),
    await attempt(0, 'queued', HOUR_MS),
    // The clock of another node.
    await attempt(2 * MINUTE_MS, 'queued', HOUR_MS),
    await accept(2 * MINUTE_MS, HOUR_MS, false),
  ]
  const before = await duesOf(left)
  expect(await recall()).toBe(3)
  expect(await duesOf(put)).toEqual([0, SECOND_MS, HOUR_MS])
  expect(await duesOf(left)).toEqual(before)
  expect(await recall()).toBe(0)
})

test('an unknown message is looked up at once, and has its deadline from now if it was months away', async () => {
  const all = [
    await attempt(90 * DAY_MS, 'unknown', DAY_MS),
    await attempt(5 * HOUR_MS, 'unknown', DAY_MS),
    await attempt(0, 'unknown', 30 * DAY_MS),
  ]
  await database.db.query({
    name: 'recall_asks',
    text: `update outbox set ask_at = due_at - interval '1 day' + interval '30 seconds'
            where account_id = $1 and message_id = any ($2::uuid[])`,
    values: [toUuid(accountId), `{${all.slice(0, 2).map(toUuid).join(',')}}`],
  })
  expect(await recall()).toBe(2)
  expect(await duesOf(all)).toEqual([DAY_MS, 29 * HOUR_MS, 30 * DAY_MS])
  expect(await duesOf(all.slice(0, 2), 'ask_at')).toEqual([0, 0])
  expect(await recall()).toBe(0)
})

test('deliveries are due after their own wait at the latest', async () => {
  const webhookId = ids.next('whk')
  const insert = async (attempts: number, dueMs: number, madeAtMs = NOW, status = 'pending') => {
    clockMs = madeAtMs
    const id = toUuid(ids.next('dlv'))
    await database.db.query({
      name: 'recall_delivery',
      text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, status, attempts, due_at)
             values ($1, $2, 'endpoint', $3, $2, 'message.sent', $4, $5, $6)`,
      values: [
        toUuid(accountId),
        id,
        toUuid(webhookId),
        status,
        attempts,
        new Date(NOW + dueMs).toISOString(),
      ],
    })
  }
  await insert(1, 5 * HOUR_MS)
  await insert(0, 5 * HOUR_MS, NOW + 5 * HOUR_MS)
  await insert(9, 90 * DAY_MS)
  await insert(0, 90 * DAY_MS)
  // Those of a right clock, one of which waits behind another, and one that is over.
  await insert(1, 5 * SECOND_MS)
  await insert(9, 26 * HOUR_MS)
  await insert(0, 26 * HOUR_MS)
  await insert(1, 5 * HOUR_MS, NOW, 'delivered')
  expect(await recallDeliveries(database.db, NOW, LONGEST_DELAYS_MS)).toBe(4)
  const { rows } = await database.db.query<{ due_at: Date }>({
    name: 'recall_deliveries_due',
    text: 'select due_at from deliveries where account_id = $1 order by seq',
    values: [toUuid(accountId)],
  })
  const longestMs = 26.4 * HOUR_MS
  expect(rows.map(row => row.due_at.getTime() - NOW)).toEqual([
    ...[5_500, 0, longestMs, longestMs],
    ...[5 * SECOND_MS, 26 * HOUR_MS, 26 * HOUR_MS, 5 * HOUR_MS],
  ])
  expect(await recallDeliveries(database.db, NOW, LONGEST_DELAYS_MS)).toBe(0)
})
