import { afterAll, beforeAll, expect, test } from 'vitest'
import { acceptSends, beginAttempts, settleAttempts } from '../../../src/core/messages/hot-store.ts'
import { readMessage } from '../../../src/core/messages/message-store.ts'
import { viewWithTimeline } from '../../../src/core/messages/view.ts'
import { storeAttachment, sweepAttachments } from '../../../src/core/outbox/attachment-store.ts'
import { registerNode, removeNode } from '../../../src/core/outbox/node-store.ts'
import { claimLookups, closeUnknown, type Lookup } from '../../../src/core/outbox/reconcile-store.ts'
import { claimDue, reclaimFromDead } from '../../../src/core/outbox/store.ts'
import { sweepParked } from '../../../src/core/outbox/sweep-store.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, type ConnectionId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

const DAY_MS = 24 * 3_600_000
const WAITS_MS = [30_000, 90_000, 600_000]
const START_MS = Date.UTC(2026, 0, 1)
const ids = createIds(systemClock, createRandom())
const accountId: AccountId = ids.next('acc')

let database: TestDatabase
let node: number

beforeAll(async () => {
  database = await createTestDatabase()
  node = await registerNode(database.db, 'reconcile', START_MS, false)
  await database.db.query({
    name: 'reconcile_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000000, 1000000)',
    values: [toUuid(accountId)],
  })
})
afterAll(() => database.drop())

/** Messages of a new connection that became unknown at `START_MS`, with a deadline a day later. */
async function unknownMessages(count: number): Promise<{ connectionId: ConnectionId; all: MessageId[] }> {
  const connectionId = ids.next('cnn')
  const rows = Array.from({ length: count }, () =>
    acceptRow({ accountId, id: ids.next('msg'), connectionId, dueAt: START_MS }),
  )
  await acceptSends(database.db, node, START_MS, rows, false)
  const settles = rows.map(row =>
    settleRow({ ...row, eventId: ids.next('evt') }, { kind: 'unknown', dueAt: START_MS + DAY_MS }),
  )
  await settleAttempts(database.db, START_MS, settles, false)
  return { connectionId, all: rows.map(row => row.id) }
}

const claim = (connectionId: ConnectionId, atMs: number, limit = 100): Promise<Lookup[]> =>
  claimLookups(database.db, START_MS + atMs, [{ connectionId, limit }], WAITS_MS)

const idsOf = (lookups: readonly Lookup[]) => lookups.map(lookup => lookup.id).toSorted()

test('concurrent claims give each look-up to one of them', async () => {
  const { connectionId, all } = await unknownMessages(60)
  const planned = await Promise.all(Array.from({ length: 8 }, () => claim(connectionId, 0, 10)))
  expect(idsOf(planned.flat())).toEqual(all.toSorted())
  expect(planned.flat().every(lookup => lookup.nth === 0)).toBe(true)
  const asked = await Promise.all(Array.from({ length: 8 }, () => claim(connectionId, 30_000, 10)))
  expect(idsOf(asked.flat())).toEqual(all.toSorted())
  expect(asked.flat().every(lookup => lookup.nth === 1)).toBe(true)
})

test('a look-up that was claimed and not made is claimed again at its next time, and not before', async () => {
  const { connectionId, all } = await unknownMessages(3)
  await claim(connectionId, 0)
  expect(await claim(connectionId, 29_999)).toEqual([])
  // The node of this claim dies before the look-up.
  expect(await claim(connectionId, 30_000)).toHaveLength(3)
  expect(await claim(connectionId, 119_999)).toEqual([])
  const second = await claim(connectionId, 120_000)
  expect(idsOf(second)).toEqual(all.toSorted())
  expect(second.map(lookup => lookup.nth)).toEqual([2, 2, 2])
  // The last wait is repeated.
  expect(await claim(connectionId, 720_000)).toHaveLength(3)
  expect(await claim(connectionId, 1_319_999)).toEqual([])
  expect(await claim(connectionId, 1_320_000)).toHaveLength(3)
})

test('a claim returns at most the limit of its connection, and none of another connection', async () => {
  const { connectionId } = await unknownMessages(5)
  const other = await unknownMessages(5)
  expect(await claim(connectionId, 0, 2)).toHaveLength(2)
  expect(await claim(connectionId, 0, 100)).toHaveLength(3)
  expect(await claim(other.connectionId, 0)).toHaveLength(5)
})

test('a message whose outcome is known by now is not looked up', async () => {
  const { connectionId, all } = await unknownMessages(2)
  await claim(connectionId, 0)
  const [known] = all
  const taken = settleRow(
    { accountId, id: known!, connectionId, eventId: ids.next('evt') },
    { kind: 'sent', providerId: 'late' },
  )
  await settleAttempts(database.db, START_MS + 1, [taken], false)
  expect(idsOf(await claim(connectionId, 30_000))).toEqual([all[1]])
})

test('an unknown message is sent and captured exactly at its deadline, and not looked up after it', async () => {
  const { connectionId, all } = await unknownMessages(4)
  await claim(connectionId, 0)
  const statuses = async () => {
    const { rows } = await database.db.query<{ status: string; money: string }>({
      name: 'reconcile_statuses',
      text: 'select status, money from messages where account_id = $1 and id = any ($2::uuid[])',
      values: [toUuid(accountId), `{${all.map(toUuid).join(',')}}`],
    })
    return new Set(rows.map(row => `${row.status}, ${row.money}`))
  }
  await closeUnknown(database.db, START_MS + DAY_MS - 1, 1_000)
  expect(await statuses()).toEqual(new Set(['unknown, held']))
  await closeUnknown(database.db, START_MS + DAY_MS, 1_000)
  expect(await statuses()).toEqual(new Set(['sent, captured']))
  expect(await claim(connectionId, 2 * DAY_MS)).toEqual([])
})

/** Repeats a step until a page is not full; returns the size of each page. */
async function inPages(step: () => Promise<number>, full: number): Promise<number[]> {
  const pages: number[] = []
  do pages.push(await step())
  while (pages.at(-1) === full)
  return pages
}

test('the messages of a dead node are reclaimed page by page', async () => {
  const dead = await registerNode(database.db, 'dead', START_MS, false)
  const rows = Array.from({ length: 5 }, (_, at) =>
    acceptRow(
      { accountId, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: START_MS },
      at < 3 ? {} : { status: 'queued', begun: false },
    ),
  )
  await acceptSends(database.db, dead, START_MS, rows, false)
  await removeNode(database.db, dead)
  const seen = { freed: 0, unknown: 0 }
  const pages = await inPages(async () => {
    const { freed, unknown } = await reclaimFromDead(database.db, START_MS, START_MS + DAY_MS, 2)
    seen.freed += freed
    seen.unknown += unknown
    return freed + unknown
  }, 2)
  expect([pages, seen]).toEqual([[2, 2, 1], { freed: 2, unknown: 3 }])
})

test('an attempt that a dead node left unknown does not show the code of the attempt before it', async () => {
  const dying = await registerNode(database.db, 'dying', START_MS, false)
  const message = acceptRow({
    accountId,
    id: ids.next('msg'),
    connectionId: ids.next('cnn'),
    dueAt: START_MS,
  })
  await acceptSends(database.db, dying, START_MS, [message], false)
  const refused = settleRow(
    { ...message, eventId: ids.next('evt') },
    { kind: 'queued', dueAt: START_MS, providerCode: '503', errorDetail: 'later' },
  )
  await settleAttempts(database.db, START_MS, [refused], false)
  await claimDue(database.db, dying, START_MS, [{ connectionId: message.connectionId, limit: 1 }])
  expect(await beginAttempts(database.db, dying, START_MS, [message], false)).toEqual([2])
  await removeNode(database.db, dying)
  await reclaimFromDead(database.db, START_MS, START_MS + DAY_MS, 10)

  const row = await readMessage(database.db, accountId, message.id)
  const explain = (_provider: string, code: string) => `meaning of ${code}`
  const attempts = viewWithTimeline(row!, 'USD', explain).timeline.filter(({ event }) => event === 'attempt')
  expect(attempts).toMatchObject([
    { attempt: 1, outcome: 'retry', providerCode: '503', explanation: 'meaning of 503' },
    { attempt: 2, outcome: 'unknown', providerCode: null, explanation: null },
  ])
})

test('old parked receipts and orphaned attachments, and no others, are swept page by page', async () => {
  const { db } = database
  await db.query({
    name: 'reconcile_park',
    text: `insert into parked_receipts (connection_id, provider_id, status, received_at)
             select $1, 'nobody ' || n, 'sent', $2::timestamptz + make_interval(mins => n) from generate_series(0, 5) n`,
    values: [toUuid(ids.next('cnn')), new Date(START_MS).toISOString()],
  })
  expect(await inPages(() => sweepParked(db, START_MS + 5 * 60_000, 2), 2)).toEqual([2, 2, 1])

  const waits = acceptRow({ accountId, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: START_MS })
  await acceptSends(db, node, START_MS, [waits], false)
  const file = Buffer.from('a file')
  await storeAttachment(db, accountId, ids.next('att'), waits.id, file)
  for (let n = 0; n < 3; n++) await storeAttachment(db, accountId, ids.next('att'), ids.next('msg'), file)
  expect(await inPages(() => sweepAttachments(db, Date.now() + DAY_MS, 2), 2)).toEqual([2, 1])
  expect(await sweepAttachments(db, Date.now() - DAY_MS, 2)).toBe(0)
})
