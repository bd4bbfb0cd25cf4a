import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Claimed,
  claimDeliveries,
  finishDeliveries,
  freeDeliveries,
} from '../../../src/core/callbacks/store.ts'
import { createDatabase, type Database } from '../../../src/infra/db.ts'
import { type Id, toUuid } from '../../../src/lib/ids.ts'
import { type CallbackWorld, openCallbacks } from '../../support/callbacks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'

/** Advisory lock: a claim of deliveries waits halfway for as long as the test holds it. */
const GATE = 4711
const LINES = 30

let database: TestDatabase
let db: Database
let world: CallbackWorld

beforeAll(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 4, queryTimeoutMs: 60_000 })
  world = await openCallbacks(db)
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

test('deliveries whose queue changes during a claim are postponed, and the claim does not fail', async () => {
  const caller = await world.newAccount()
  const { id } = await world.webhooks.create(caller, { url: 'http://127.0.0.1/' })
  const { number: node } = await world.startNode()
  const accountId = caller.account.id
  const room = [{ accountId, targetUuid: toUuid(id as Id<'whk'>), limit: 100 }]
  const lines: Awaited<ReturnType<typeof world.newMessage>>[] = []
  while (lines.length < LINES) lines.push(await world.newMessage(accountId))
  for (const message of lines) await world.happen(accountId, message, 'message.sent')
  await world.clock.advance(1)
  const ahead = await claimDeliveries(db, { node, atMs: world.clock.now() }, room)
  expect(ahead).toHaveLength(lines.length)
  for (const message of lines) await world.happen(accountId, message, 'message.delivered')
  await world.happen(accountId, await world.newMessage(accountId), 'message.sent')
  await world.clock.advance(1)
  await db.query({
    name: 'make_gate',
    text: `do $$ begin
      create function gate() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end';
      create trigger gate before update on deliveries for each row when (old.owner is null and new.owner is not null)
        execute function gate();
    end $$`,
  })

  // Some deliveries at the head of their queues stay locked throughout, and the claim skips them.
  await db.transaction(async holder => {
    const held = `select 1 from deliveries where owner is not null and seq % 3 = 2 for update`
    await holder.query({ name: 'hold_some', text: held })
    let claimed: Promise<unknown[]> = Promise.resolve([])
    await db.transaction(async gate => {
      await gate.query({ name: 'shut', text: `select pg_advisory_xact_lock(${GATE})` })
      claimed = claimDeliveries(db, { node, atMs: world.clock.now() }, room)
      const waiting = {
        name: 'who_waits',
        // Only waits for this lock: other test files have locks of their own on the same server.
        text: `select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`,
      }
      await lookUntil(
        () => db.query(waiting),
        ({ rows }) => rows.length > 0,
        20_000,
      )
      await db.query({
        name: 'change_ahead',
        text: `update deliveries set attempts = attempts where id in (
                 select id from deliveries where owner is not null and seq % 3 = 1 for update skip locked)`,
      })
    })
    expect(await claimed).toHaveLength(1)
  })

  const { rows } = await db.query<{ n: number }>({
    name: 'put_off',
    text: `select count(*)::integer as n from deliveries where owner is null and due_at > $1 and order_key is not null`,
    values: [new Date(world.clock.now() + 19_000).toISOString()],
  })
  expect(rows).toEqual([{ n: LINES - LINES / 3 }])
}, 60_000)

test('the result of an attempt changes nothing once its delivery was freed and claimed again', async () => {
  const caller = await world.newAccount()
  const { id } = await world.webhooks.create(caller, { url: 'http://127.0.0.1/' })
  const { number: node } = await world.startNode()
  const accountId = caller.account.id
  await world.happen(accountId, await world.newMessage(accountId), 'message.sent')
  const claim = async () => {
    await world.clock.advance(1)
    const room = [{ accountId, targetUuid: toUuid(id as Id<'whk'>), limit: 1 }]
    return (await claimDeliveries(db, { node, atMs: world.clock.now() }, room))[0]!
  }
  const finish = async (claimed: Claimed) => {
    const result = { status: 'delivered', dueAtMs: null, httpStatus: 200, error: null } as const
    await finishDeliveries(db, world.clock.now(), [{ ...claimed, ...result }])
    const { rows } = await db.query<{ status: string; attempts: number }>({
      name: 'delivery_status',
      text: 'select status, attempts from deliveries where account_id = $1',
      values: [toUuid(accountId)],
    })
    return rows
  }
  const earlier = await claim()
  await freeDeliveries(db, node, world.clock.now() + 1)
  const later = await claim()
  expect(await finish(earlier)).toEqual([{ status: 'pending', attempts: 0 }])
  expect(await finish(later)).toEqual([{ status: 'delivered', attempts: 1 }])
})
