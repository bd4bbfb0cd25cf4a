import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findDeliveryScanEnd, listDeliveries } from '../../../src/core/callbacks/delivery-store.ts'
import {
  type Claimed,
  cancelDeliveries,
  claimDeliveries,
  countWaiting,
  finishDeliveries,
  freeDeliveries,
  releaseDeliveries,
  type WebhookId,
} from '../../../src/core/callbacks/store.ts'
import { createDatabase, type Database, type Db } from '../../../src/infra/db.ts'
import { type AccountId, type Id, toUuid } from '../../../src/lib/ids.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { type CallbackWorld, openCallbacks } from '../../support/callbacks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeMonths } from '../../support/make-months.ts'

/** Deliveries that the endpoint already received, and deliveries that are due. */
const DELIVERED = 5_000
const DUE = 20
/** For each delivery: its row versions, event, message and endpoint, and the deliveries before and behind it. */
const MAX_ROWS_EACH = 20

let database: TestDatabase
/** A single database session, which keeps the query plans that it made on empty tables. */
let db: Database
let world: CallbackWorld
let accountId: AccountId
let webhookId: WebhookId
let targetUuid: string

beforeAll(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 60_000 })
  world = await openCallbacks(db)
  const caller = await world.newAccount()
  accountId = caller.account.id
  const { id } = await world.webhooks.create(caller, { url: 'http://127.0.0.1/' })
  webhookId = id as Id<'whk'>
  targetUuid = toUuid(webhookId)
  await disableAutovacuum(db, ['deliveries', 'events'])
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

async function insertDelivered(count = DELIVERED): Promise<void> {
  await db.query({
    name: 'tell_many',
    text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, status, due_at, ended_at)
      select $1, uuid_at(now()), 'endpoint', $2, gen_random_uuid(), 'message.sent', 'delivered', now(), now()
        from generate_series(1, $3::integer)`,
    values: [toUuid(accountId), targetUuid, count],
  })
}

/** Inserts deliveries that are due tomorrow, each in the queue of an older message. */
async function insertPostponed(count: number): Promise<void> {
  await db.query({
    name: 'put_off_many',
    text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, order_key, due_at)
      select $1, uuid_at(now()), 'endpoint', $2, gen_random_uuid(), 'message.sent', uuid_at('2001-01-01'), now() + interval '1 day'
        from generate_series(1, $3::integer)`,
    values: [toUuid(accountId), targetUuid, count],
  })
}

/** Rows read, by the statistics of the transaction. */
const rowsRead = (work: (tx: Db) => Promise<unknown>) => counted(countRows, work)
const pagesRead = (work: (tx: Db) => Promise<unknown>) => counted(countPages, work)

function counted(count: (tx: Db) => Promise<number>, work: (tx: Db) => Promise<unknown>): Promise<number> {
  return db.transaction(async tx => {
    const before = await count(tx)
    await work(tx)
    return (await count(tx)) - before
  })
}

async function countPages(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'count_pages',
    text: `select sum(pg_stat_get_xact_blocks_fetched(oid))::integer as n from pg_class where relname ~ '^deliveries'`,
  })
  return rows[0]!.n
}

async function countRows(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'count_rows',
    text: `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as n from pg_stat_xact_user_tables
            where relname ~ '^(deliveries|events|webhook_endpoints|messages)'`,
  })
  return rows[0]!.n
}

/** Claims, releases, claims again and finishes deliveries; returns the most rows, or pages, that one of these steps read. */
async function round(node: number, read = rowsRead): Promise<number> {
  for (let at = 0; at < DUE; at++) {
    const message = await world.newMessage(accountId)
    await world.happen(accountId, message, 'message.sent')
  }
  await world.clock.advance(1)
  const atMs = world.clock.now()
  const room = [{ accountId, targetUuid, limit: 100 }]
  let claimed: Claimed[] = []
  const claim = async (tx: Db) => {
    claimed = await claimDeliveries(tx, { node, atMs }, room)
  }
  const most = [await read(claim)]
  expect(claimed).toHaveLength(DUE)
  most.push(await read(tx => releaseDeliveries(tx, claimed)))
  await claim(db)
  const finish = (one: Claimed) =>
    ({ ...one, status: 'delivered', dueAtMs: null, httpStatus: 200, error: null }) as const
  most.push(await read(tx => finishDeliveries(tx, atMs, claimed.map(finish))))
  return Math.max(...most)
}

test('claiming and finishing a delivery reads few rows, also after thousands of finished ones', async () => {
  const { number } = await world.startNode()
  expect(await round(number)).toBeLessThan(DUE * MAX_ROWS_EACH)
  await insertDelivered()
  expect(await round(number)).toBeLessThan(DUE * MAX_ROWS_EACH)
}, 60_000)

test('claiming and finishing a delivery reads few pages with thousands waiting, by old and new plans', async () => {
  const { number } = await world.startNode()
  const pages = await round(number, pagesRead)
  await insertDelivered(30_000)
  // A session that starts later makes these plans.
  await db.query({ name: 'plan_anew', text: 'discard plans' })
  expect(await round(number, pagesRead)).toBeLessThan(pages * 2)
  await insertPostponed(10_000)
  expect(await round(number, pagesRead)).toBeLessThan(pages * 2)
  await db.query({ name: 'plan_anew', text: 'discard plans' })
  expect(await round(number, pagesRead)).toBeLessThan(pages * 2)
}, 60_000)

test('freeing the deliveries of dead nodes does not read all deliveries', async () => {
  const free = (tx: Db) => freeDeliveries(tx, 1, world.clock.now() - 60_000)
  expect(await rowsRead(free)).toBeLessThan(20)
  await db.query({ name: 'plan_anew', text: 'discard plans' })
  expect(await rowsRead(free)).toBeLessThan(20)
})

test('a filtered page of deliveries reads a bounded number of rows, however rare its matches', async () => {
  await insertDelivered(30_000)
  const failed = `update deliveries set status = 'failed' where seq = (select min(seq) from deliveries)`
  await db.query({ name: 'fail_the_first', text: failed })
  await insertDelivered(30_000)

  let found = 0
  const listFailed = async (tx: Db) => {
    const filter = { status: 'failed' } as const
    expect(await findDeliveryScanEnd(tx, accountId, webhookId, filter, null)).toBeNull()
    found = (
      await listDeliveries(tx, accountId, webhookId, filter, { before: null, stoppedAt: null, limit: 51 })
    ).length
  }
  expect(await rowsRead(listFailed)).toBeLessThan(20)
  expect(found).toBe(1)

  const filter = { eventType: 'wallet.low' } as const
  let stoppedAt: number | null = null
  const listRare = async (tx: Db) => {
    stoppedAt = await findDeliveryScanEnd(tx, accountId, webhookId, filter, null)
    found = (await listDeliveries(tx, accountId, webhookId, filter, { before: null, stoppedAt, limit: 51 }))
      .length
  }
  expect(await rowsRead(listRare)).toBeLessThan(45_000)
  expect([found, stoppedAt]).toEqual([0, expect.any(Number)])
}, 60_000)

test('cancelling the deliveries of a target reads few pages, however many months there are', async () => {
  const now = new Date()
  const monthBefore = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7)
  await makeMonths(db, ...Array.from({ length: 24 }, (_, at) => monthBefore(at + 1)))
  await disableAutovacuum(db, ['deliveries', 'events'])
  // An endpoint that does not exist.
  const target = { accountId, uuid: randomUUID() }
  await db.query({
    name: 'put_waiting',
    text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, status, due_at)
      select $1, uuid_at(now()), 'endpoint', $2, gen_random_uuid(), 'message.sent',
             case when n > 30000 then 'pending' else 'delivered' end, now() from generate_series(1, 30500) n`,
    values: [toUuid(accountId), target.uuid],
  })
  const pages = await pagesRead(async tx => {
    expect(await cancelDeliveries(tx, world.clock.now(), target, 500)).toBe(500)
  })
  expect(pages).toBeLessThan(500 * 40)
}, 60_000)

test('the metric of waiting deliveries counts a bounded number of them, and estimates a backlog', async () => {
  await db.query({
    name: 'put_backlog',
    text: `insert into deliveries (account_id, id, target_kind, target_id, event_id, event_type, due_at)
      select $1, uuid_at(now()), 'endpoint', $2, gen_random_uuid(), 'message.sent', now() from generate_series(1, 40000)`,
    values: [toUuid(accountId), targetUuid],
  })
  const waiting = await exactlyWaiting()
  let found = 0
  const count = async (tx: Db) => {
    found = await countWaiting(tx, 1_000)
  }
  for (const change of ['discard plans', 'vacuum analyze deliveries', 'discard plans']) {
    await db.query({ name: `before_count_${change.slice(0, 3)}`, text: change })
    expect(await rowsRead(count)).toBeLessThanOrEqual(1_000)
    expect(await countWaiting(db, waiting + 1)).toBe(waiting)
  }
  expect(Math.abs(found - waiting)).toBeLessThan(waiting / 10)
}, 60_000)

async function exactlyWaiting(): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'exactly_waiting',
    text: `select count(*)::integer as n from deliveries where status = 'pending' and owner is null`,
  })
  return rows[0]!.n
}
