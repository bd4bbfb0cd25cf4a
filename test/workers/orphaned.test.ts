import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AcceptRow, acceptSends } from '../../src/core/messages/hot-store.ts'
import { registerNode } from '../../src/core/outbox/node-store.ts'
import type { OwnedRow } from '../../src/core/outbox/store.ts'
import { createDatabase, type Database } from '../../src/infra/db.ts'
import { createLog } from '../../src/infra/log.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createIds, type MessageId, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createOrphanCheck } from '../../src/workers/orphaned.ts'
import { createUnmadeAttempts } from '../../src/workers/unmade-attempts.ts'
import { disableAutovacuum } from '../support/autovacuum.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { acceptRow } from '../support/message-rows.ts'

const ids = createIds(systemClock, createRandom())
const accountId = ids.next('acc')
const connectionId = ids.next('cnn')
const log = createLog({ level: 'silent' })

let database: TestDatabase
/** A single database session, which keeps the plans that it made on an empty outbox. */
let db: Database
let node: number

beforeAll(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 60_000 })
  node = await registerNode(db, 'orphaned', systemClock.now(), false)
  await db.query({
    name: 'orphaned_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000000, 1000000)',
    values: [toUuid(accountId)],
  })
  await disableAutovacuum(db, ['outbox', 'messages'])
})
afterAll(async () => {
  await db.close()
  await database.drop()
})
beforeEach(async () => {
  await db.query({ name: 'orphaned_none', text: 'delete from outbox' })
  await db.query({ name: 'orphaned_empty', text: 'vacuum outbox' })
})

/** Messages that a node holds in the database, begun or not. */
const accepted = (owner: number, count: number, begun: boolean) => accept(owner, count, { begun })

/** Messages that wait in the outbox without an owner. */
async function addBacklog(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1_000) {
    await accept(node, Math.min(left, 1_000), { status: 'queued', begun: false, owned: false })
  }
}

async function accept(owner: number, count: number, more: Partial<AcceptRow>): Promise<MessageId[]> {
  const rows = Array.from({ length: count }, () =>
    acceptRow({ accountId, id: ids.next('msg'), connectionId, dueAt: systemClock.now() }, more),
  )
  await acceptSends(db, owner, systemClock.now(), rows, false)
  return rows.map(row => row.id)
}

function check(held: ReadonlyMap<MessageId, unknown>, pages?: number) {
  const lost: OwnedRow[] = []
  const unmade: OwnedRow[] = []
  const unmadeAttempts = createUnmadeAttempts()
  const { release } = createOrphanCheck({
    db,
    log,
    node: () => node,
    held,
    unmadeAttempts,
    ...(pages !== undefined && { pages }),
    concludeLost: async row => void lost.push(row),
    concludeUnmade: async row => void unmade.push(row),
  })
  return { release, ...unmadeAttempts, lost, unmade }
}

async function owned(): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'orphaned_owned',
    text: 'select count(owner)::integer as n from outbox where not begun',
  })
  return rows[0]!.n
}

/** The pages of the outbox and of messages that one check reads. */
async function pagesRead(work: () => Promise<unknown>): Promise<number> {
  const before = await countPages()
  await work()
  return (await countPages()) - before
}

async function countPages(): Promise<number> {
  // The statistics of a session reach the others at the latest when it asks for it.
  await db.query({ name: 'orphaned_flush', text: 'select pg_stat_force_next_flush()' })
  await db.query({ name: 'orphaned_clear', text: 'select pg_stat_clear_snapshot()' })
  const { rows } = await db.query<{ n: number }>({
    name: 'orphaned_pages',
    text: `select sum(pg_stat_get_blocks_fetched(oid))::integer as n from pg_class where relname ~ '^(outbox|messages)'`,
  })
  return rows[0]!.n
}

test('what two checks find is released, or concluded where it was begun; what is in memory is not', async () => {
  const [held] = await accepted(node, 1, false)
  await accepted(node, 2, false)
  const begun = await accepted(node, 1, true)
  await accepted(node + 1, 1, false)
  const { release, lost } = check(new Map([[held!, 1]]))
  expect(await release()).toBe(0)
  expect(await owned()).toBe(4)
  expect(await release()).toBe(3)
  expect(await owned()).toBe(2)
  expect(lost).toMatchObject([{ id: begun[0], begun: true, attempt: 1 }])
})

test('an attempt that an accept without a response has recorded counts as not made, unless the message came to be held', async () => {
  const [unmadeOne, held] = await accepted(node, 2, true)
  const { release, noteLostAccept, noteHeld, lost, unmade } = check(new Map())
  for (const id of [unmadeOne!, held!]) noteLostAccept(id, true)
  noteHeld(held!)
  await release()
  await release()
  expect(unmade).toMatchObject([{ id: unmadeOne, begun: true, attempt: 1 }])
  expect(lost).toMatchObject([{ id: held, begun: true, attempt: 1 }])
})

test('an attempt that an accept without a response has recorded is reverted once, by the check or by the lane', async () => {
  const [checked, taken] = await accepted(node, 2, true)
  const { release, noteLostAccept, takeIfRecorded, lost, unmade } = check(new Map())
  for (const id of [checked!, taken!]) noteLostAccept(id, true)
  expect(takeIfRecorded(taken!)).toBe(true)
  await release()
  await release()
  expect(unmade).toMatchObject([{ id: checked }])
  expect(lost).toMatchObject([{ id: taken }])
  // The lane tried its row again without a response.
  noteLostAccept(checked!, true)
  expect(takeIfRecorded(checked!)).toBe(false)
})

test('an attempt that may not have been recorded is reverted by the check alone, which reads that it was', async () => {
  const [first, last] = await accepted(node, 2, true)
  const { release, noteLostAccept, takeIfRecorded, unmade } = check(new Map())
  noteLostAccept(first!, false)
  noteLostAccept(first!, true)
  noteLostAccept(last!, true)
  noteLostAccept(last!, false)
  for (const id of [first!, last!]) expect(takeIfRecorded(id)).toBe(false)
  await release()
  await release()
  expect(unmade.map(row => row.id).sort()).toEqual([first, last].sort())
})

test('an attempt of a message that was stored without one was made, also if this node took the message before it noted that', async () => {
  const [taken] = await accepted(node, 1, true)
  const { release, noteLostAccept, noteHeld, lost, unmade } = check(new Map())
  noteHeld(taken!)
  noteLostAccept(taken!, false)
  await release()
  await release()
  expect(unmade).toEqual([])
  expect(lost).toMatchObject([{ id: taken, begun: true, attempt: 1 }])
})

test('a check reads a bounded part of a backlog, and the next ones find what is orphaned anywhere in it', async () => {
  const first = await accepted(node, 1, true)
  await addBacklog(10_000)
  const middle = await accepted(node, 1, true)
  await addBacklog(10_000)
  const last = await accepted(node, 1, true)
  const { release, lost } = check(new Map(), 100)
  for (let n = 0; n < 20; n++) expect(await pagesRead(release)).toBeLessThan(150)
  expect(lost.map(({ id }) => id)).toEqual(expect.arrayContaining([...first, ...middle, ...last]))
}, 60_000)

test('a stretch in which something is found each time does not keep the check from the others', async () => {
  await addBacklog(10_000)
  const last = await accepted(node, 1, true)
  await db.query({ name: 'orphaned_busy', text: 'vacuum outbox' })
  const { release, lost } = check(new Map(), 100)
  for (let n = 0; n < 20; n++) {
    await db.query({
      name: 'orphaned_lively',
      text: `update outbox set owner = $1, message_id = uuid_at(now()) where ctid = '(0,1)'`,
      values: [node],
    })
    await release()
  }
  expect(lost.map(({ id }) => id)).toContain(last[0])
}, 60_000)
