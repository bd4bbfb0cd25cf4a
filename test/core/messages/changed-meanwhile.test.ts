import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmMessages } from '../../../src/core/messages/confirm-store.ts'
import { failOver } from '../../../src/core/messages/failover-store.ts'
import {
  type AcceptRow,
  acceptSends,
  applyReceipts,
  beginAttempts,
  type KeyClaim,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import { dropMessageKey, readKey } from '../../../src/core/messages/idempotency-store.ts'
import { withdrawUnconfirmed } from '../../../src/core/messages/withdraw-store.ts'
import { joinParts, storeParts } from '../../../src/core/outbox/parts-store.ts'
import { closeUnknown } from '../../../src/core/outbox/reconcile-store.ts'
import { reclaimFromDead } from '../../../src/core/outbox/store.ts'
import { checkCodes } from '../../../src/core/verification/store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { type AccountId, createIds, type Id, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'
import { makeMonths } from '../../support/make-months.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

const NODE = 1
const NOW = Date.UTC(2026, 3, 1, 0, 10)
/** Shortly after a month has begun, a batch has messages of two months. */
const MADE_AT = [Date.UTC(2026, 2, 31, 23, 59), NOW]
const MINUTE_MS = 60_000
const random = createRandom()
const makers = MADE_AT.map(atMs => createIds(createFakeClock(atMs), random))
const ids = makers[1]!
const accountId: AccountId = ids.next('acc')
const connectionId = ids.next('cnn')

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await makeMonths(database.db, '2026-02', '2026-03', '2026-04', '2026-05')
  await addWallet(accountId)
})
afterAll(() => database.drop())

async function addWallet(id: AccountId): Promise<void> {
  await database.db.query({
    name: 'meanwhile_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 100000, 100000)',
    values: [toUuid(id)],
  })
}

/** Messages of both months, those of the older one first. */
async function accepted(more: Partial<AcceptRow> = {}): Promise<AcceptRow[]> {
  const rows = makers.flatMap(maker =>
    Array.from({ length: 5 }, () =>
      acceptRow({ accountId, id: maker.next('msg'), connectionId, dueAt: NOW }, more),
    ),
  )
  await acceptSends(database.db, NODE, NOW, rows, false)
  return rows
}

async function statuses(rows: readonly AcceptRow[]): Promise<string[]> {
  const { rows: found } = await database.db.query<{ status: string }>({
    name: 'meanwhile_statuses',
    text: 'select status from messages where id = any ($1::uuid[]) order by id',
    values: [`{${rows.map(row => toUuid(row.id)).join(',')}}`],
  })
  return found.map(({ status }) => status)
}

/** Does the work while another transaction changes a row that it needs: it waits for the commit and continues with the changed row. */
async function meanwhile<T>(
  change: (tx: Db) => Promise<unknown>,
  work: () => Promise<T>,
  whileItWaits = async () => {},
): Promise<T> {
  let done: Promise<T> | undefined
  await database.db.transaction(async tx => {
    await change(tx)
    done = work()
    await lookUntil(waiting, n => n === 1, 10_000)
    await whileItWaits()
  })
  return done!
}

async function waiting(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'meanwhile_waiting',
    text: `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows[0]!.n
}

const confirmation = (row: AcceptRow) => (tx: Db) => confirmMessages(tx, accountId, [row.id])
const sent = (row: AcceptRow) =>
  settleRow({ ...row, eventId: ids.next('evt') }, { providerId: `p-${toUuid(row.id)}` })
const receipt = (row: AcceptRow) => ({
  connectionId,
  providerId: `p-${toUuid(row.id)}`,
  status: 'delivered' as const,
  atMs: null,
  providerCode: null,
  errorCode: null,
  detail: null,
  eventId: ids.next('evt'),
})
const all = (status: string) => Array.from({ length: 10 }, () => status)

test('a batch settles all its messages if one was changed concurrently', async () => {
  const rows = await accepted()
  await meanwhile(confirmation(rows[0]!), () => settleAttempts(database.db, NOW, rows.map(sent), false))
  expect(await statuses(rows)).toEqual(all('sent'))
})

test('a batch begins all its messages if one was changed concurrently', async () => {
  const rows = await accepted({ status: 'queued', begun: false })
  const { db } = database
  const numbers = await meanwhile(confirmation(rows[0]!), () => beginAttempts(db, NODE, NOW, rows, false))
  expect(numbers).toEqual(rows.map(() => 1))
  expect(await statuses(rows)).toEqual(all('sending'))
})

test('a batch begins all its messages if the outbox row of one was changed concurrently', async () => {
  const rows = await accepted({ status: 'queued', begun: false })
  const put = (tx: Db) =>
    tx.query({
      name: 'meanwhile_put_off',
      text: 'update outbox set due_at = due_at where message_id = $1',
      values: [toUuid(rows[0]!.id)],
    })
  const numbers = await meanwhile(put, () => beginAttempts(database.db, NODE, NOW, rows, false))
  expect(numbers).toEqual(rows.map(() => 1))
  expect(await statuses(rows)).toEqual(all('sending'))
})

test('a batch applies the receipts of all its messages if one was changed concurrently', async () => {
  const rows = await accepted()
  await settleAttempts(database.db, NOW, rows.map(sent), false)
  await meanwhile(confirmation(rows[0]!), () => applyReceipts(database.db, NOW, rows.map(receipt)))
  expect(await statuses(rows)).toEqual(all('delivered'))
})

test('a batch checks the codes of all its verifications if one was changed concurrently', async () => {
  const mark = Buffer.of(1)
  const verifications: Id<'ver'>[] = []
  for (const [at, maker] of makers.entries())
    for (let n = 0; n < 5; n += 1) {
      const id = maker.next('ver')
      const uuid = toUuid(id)
      await database.db.query({
        name: 'meanwhile_verification',
        text: `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, message_id, channel,
                 started_at, expires_at, resend_at, code_hash, messages, started_with, accept_no)
               values ($1, $2, true, 30, $3, $3, $2, 'local_sms', $4, $5, $4, $6, array[$2::uuid], 1, $7)`,
        values: [
          toUuid(accountId),
          uuid,
          `+1202555010${n}${at}`,
          new Date(MADE_AT[at]!).toISOString(),
          new Date(NOW + 30 * MINUTE_MS).toISOString(),
          hash('sha256', Buffer.concat([mark, Buffer.from(uuid.replaceAll('-', ''), 'hex')]), 'buffer'),
          at * 5 + n + 1,
        ],
      })
      verifications.push(id)
    }
  const touch = (tx: Db) =>
    tx.query({
      name: 'meanwhile_touch',
      text: 'update verifications set resend_at = resend_at where id = $1',
      values: [toUuid(verifications[0]!)],
    })
  const rows = verifications.map(id => ({
    accountId,
    live: true,
    id,
    recipientKey: null,
    codeDigest: mark,
    checkId: ids.next('req'),
  }))
  const checked = await meanwhile(touch, () => checkCodes(database.db, NOW, rows))
  expect(checked.map(({ kind }) => kind)).toEqual(rows.map(() => 'right'))
})

test('receipts that reject messages while these are being captured return the money', async () => {
  const { db } = database
  // An account without captured money.
  const fresh = ids.next('acc')
  await addWallet(fresh)
  const rows = await accepted({ accountId: fresh })
  await settleAttempts(
    db,
    NOW,
    rows.map(row => ({ ...sent(row), kind: 'unknown' as const, dueAt: NOW + MINUTE_MS })),
    false,
  )
  const taken = (tx: Db) => settleAttempts(tx, NOW, rows.slice(0, 6).map(sent), false)
  const refused = rows.map(row => ({
    ...receipt(row),
    status: 'failed' as const,
    errorCode: 'MESSAGE_REJECTED' as const,
  }))
  expect(await meanwhile(taken, () => applyReceipts(db, NOW, refused))).toEqual(rows.map(() => true))
  expect(await statuses(rows)).toEqual(all('failed'))
  const { rows: wallets } = await db.query({
    name: 'meanwhile_money',
    text: 'select balance, held, captured from wallets where account_id = $1',
    values: [toUuid(fresh)],
  })
  expect(wallets).toEqual([{ balance: 100_000, held: 0, captured: 0 }])
})

test('a key that is freed while a batch waits for another key is claimed by a message of the batch', async () => {
  const { db } = database
  const [free, taken] = ['free', 'taken'].map(key => ({ operation: 1, key, bodyHash: Buffer.of(1) })) as [
    KeyClaim,
    KeyClaim,
  ]
  const keyed = () =>
    [free, taken].map(claim =>
      acceptRow({ accountId, id: ids.next('msg'), connectionId, dueAt: NOW }, { claim }),
    )
  const earlier = keyed()
  await acceptSends(db, NODE, NOW, [earlier[0]!], false)
  const rows = keyed()
  const verdicts = await meanwhile(
    tx => acceptSends(tx, NODE, NOW, [earlier[1]!], false),
    () => acceptSends(db, NODE, NOW, rows, false),
    () => dropMessageKey(db, accountId, free, earlier[0]!.id),
  )
  expect(verdicts.map(({ kind }) => kind)).toEqual(['accepted', 'exists'])
  expect(await readKey(db, accountId, free)).toMatchObject({ messageId: rows[0]!.id })
})

test('a message that a repeat of its request got the answer for is not withdrawn, and is due', async () => {
  const [row] = await accepted()
  await confirmMessages(database.db, accountId, [row!.id])
  expect(await withdrawUnconfirmed(database.db, NOW, [row!])).toEqual(new Set())
  expect(await statuses([row!])).toEqual(['queued'])
})

test('a withdrawal that waits for such a repeat leaves its message', async () => {
  const [row] = await accepted()
  const withdraw = () => withdrawUnconfirmed(database.db, NOW, [row!])
  expect(await meanwhile(confirmation(row!), withdraw)).toEqual(new Set())
  expect(await statuses([row!])).toEqual(['queued'])
})

test('messages of a dead node are reclaimed without waiting for those that are being changed', async () => {
  const { db } = database
  const rows = await accepted()
  await db.transaction(async tx => {
    await confirmation(rows[0]!)(tx)
    await reclaimFromDead(db, NOW, NOW + MINUTE_MS, 1_000)
  })
  expect(await statuses(rows)).toEqual(['sending', ...all('unknown').slice(1)])
  await reclaimFromDead(db, NOW, NOW + MINUTE_MS, 1_000)
  expect(await statuses(rows)).toEqual(all('unknown'))
})

test('the deadline of an unknown message does not wait for a change of it, and passes at the next look', async () => {
  const { db } = database
  const [row] = await accepted()
  await settleAttempts(db, NOW, [{ ...sent(row!), kind: 'unknown', dueAt: NOW }], false)
  await db.transaction(async tx => {
    await confirmation(row!)(tx)
    expect(await closeUnknown(db, NOW, 10)).toBe(0)
  })
  expect(await closeUnknown(db, NOW, 10)).toBe(1)
  expect(await statuses([row!])).toEqual(['sent'])
})

test('a failover that waits for the end of its message leaves it ended', async () => {
  const { db } = database
  const [row] = await accepted()
  const to = {
    connectionId: ids.next('cnn'),
    provider: 'model',
    channel: 'local_sms',
    sender: null,
    senderSource: 'platform',
    amount: row!.amount,
    parts: null,
    newContent: null,
    secret: null,
  } as const
  const refused = { outcome: 'rejected', code: null, providerCode: null, detail: 'not here' } as const
  const verdict = await meanwhile(
    tx => settleAttempts(tx, NOW, [sent(row!)], false),
    () => failOver(db, NODE, NOW, { accountId, id: row!.id, attempt: 1, ...refused }, to, false),
  )
  expect(verdict).toBe('stale')
  expect(await statuses([row!])).toEqual(['sent'])
})

test('a message is delivered when two nodes combine the receipts of its last two parts at once', async () => {
  const { db } = database
  const [row] = await accepted()
  const wholeId = `p-${toUuid(row!.id)}`
  const partIds = [`${wholeId}-a`, `${wholeId}-b`] as const
  await storeParts(db, NOW, [{ connectionId, wholeId, partIds, total: 2 }])
  await settleAttempts(db, NOW, [sent(row!)], false)
  const receive = async (tx: Db, providerId: string) => {
    await applyReceipts(tx, NOW, [{ ...receipt(row!), providerId }])
    await joinParts(tx, NOW, [{ connectionId, partId: providerId }])
  }
  await meanwhile(
    tx => receive(tx, partIds[0]),
    () => receive(db, partIds[1]),
  )
  expect(await statuses([row!])).toEqual(['delivered'])
})
