import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AcceptRow,
  acceptSends,
  applyReceipts,
  beginAttempts,
  type ReceiptRow,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import {
  claimKeyForRefusal,
  dropExpiredKey,
  dropMessageKey,
  fixAnswer,
  isAnswerPending,
  sweepKeys,
} from '../../../src/core/messages/idempotency-store.ts'
import { listMessages } from '../../../src/core/messages/list-store.ts'
import { readMessage } from '../../../src/core/messages/message-store.ts'
import {
  cancelMessage,
  endMessages,
  failStranded,
  withdrawUnconfirmed,
} from '../../../src/core/messages/withdraw-store.ts'
import { registerNode } from '../../../src/core/outbox/node-store.ts'
import { joinParts, storeParts } from '../../../src/core/outbox/parts-store.ts'
import { selectRecipients } from '../../../src/core/outbox/provider-ids-store.ts'
import {
  applyParked,
  claimLookups,
  closeUnknown,
  storeReceiptAttempts,
} from '../../../src/core/outbox/reconcile-store.ts'
import {
  claimDue,
  countOutbox,
  listOwned,
  reclaimFromDead,
  releaseRows,
} from '../../../src/core/outbox/store.ts'
import { sweepParked } from '../../../src/core/outbox/sweep-store.ts'
import { createDatabase, type Database, type Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { createTestDatabase, isServerBefore, type TestDatabase } from '../../support/database.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

/** Enough rows that the planner would choose other plans if it had statistics. */
const MANY = 200_000
const DAY_MS = 24 * 3_600_000
/** The tables that grow with the messages. */
const GROWING = ['messages', 'idempotency', 'outbox', 'provider_refs', 'parked_receipts', 'message_parts']

let database: TestDatabase
/** One session, which keeps the plans that it made; with a query timeout that is long enough to fill the tables. */
let db: Database
let node: number
const ids = createIds(systemClock, createRandom())
const connectionId = ids.next('cnn')
const accounts: AccountId[] = [ids.next('acc'), ids.next('acc'), ids.next('acc')]

async function open(): Promise<void> {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 120_000 })
  node = await registerNode(db, 'plans', Date.now(), false)
  for (const [at, account] of accounts.entries()) await addAccount(account, at === 1)
  await disableAutovacuum(db, GROWING)
}

async function close(): Promise<void> {
  await db.close()
  await database.drop()
}

async function addAccount(account: AccountId, pooled: boolean): Promise<void> {
  await db.query({
    name: 'plans_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000000, 1000000)',
    values: [toUuid(account)],
  })
  if (!pooled) return
  await db.query({
    name: 'plans_pool',
    text: `insert into pools (account_id, id, channels, included, resets_at)
           values ($1, 1, '{local_sms}', 1000, now() + interval '1 month')`,
    values: [toUuid(account)],
  })
}

async function fill(rows = MANY): Promise<void> {
  await inOrder([
    // Not a temporary table: it would change the search path, and so discard the cached plans.
    `create table many as
       select uuid_at(now()) as id, gen_random_uuid() as account_id, n from generate_series(1, ${rows}) n`,
    `insert into messages (account_id, id, live, attempt, status, channel, message_type, recipient, provider,
        connection_id, sender_source, candidates, amount, funding, money)
      select account_id, id, true, 1, case when n % 2 = 0 then 'sent' else 'queued' end, 'local_sms', 'utility',
        '+12025550100', 'plans', '${toUuid(connectionId)}', 'platform', 'local_sms', 10, 'wallet', 'held' from many`,
    `insert into idempotency (account_id, operation, key, body_hash, message_id, created_at)
      select account_id, 1, 'key ' || n, '\\x00', id, now() from many`,
    `insert into outbox (account_id, message_id, connection_id, due_at, begun, tried)
      select account_id, id, '${toUuid(connectionId)}', now() + interval '1 day', n % 10 = 0, n % 10 = 5 from many`,
    `insert into provider_refs (connection_id, provider_id, account_id, message_id)
      select '${toUuid(connectionId)}', 'ref ' || n, account_id, id from many`,
    `insert into parked_receipts (connection_id, provider_id, status, received_at)
      select '${toUuid(connectionId)}', 'nobody ' || n, 'delivered', now() - interval '1 hour' from many where n <= 20000`,
    `insert into message_parts (connection_id, part_id, whole_id, total, noted_at)
      select '${toUuid(connectionId)}', 'part ' || n, 'whole ' || n / 2, 2, now() from many`,
  ])
}

async function inOrder(statements: readonly string[]): Promise<void> {
  for (const text of statements) await db.query({ name: `fill_${text.slice(0, 40)}`, text })
}

type Look = (work: (tx: Db) => Promise<unknown>) => Promise<string[]>

/** The tables that the work scanned, or of which it read more than `mostByIndex` rows by an index, by the session’s counters. */
function scanned(work: (tx: Db) => Promise<unknown>, mostByIndex = 1_000): Promise<string[]> {
  return readBy(work, ({ scans, rows }) => scans > 0 || rows > mostByIndex)
}

/** The tables of which the work read many rows, in whatever way. */
const readMuch: Look = work => readBy(work, ({ rows, scannedRows }) => rows + scannedRows > 1_000)

async function readBy(
  work: (tx: Db) => Promise<unknown>,
  isTooMuch: (reads: Reads) => boolean,
): Promise<string[]> {
  return db.transaction(async tx => {
    const before = await countReads(tx)
    await work(tx)
    const after = await countReads(tx)
    return [...after]
      .filter(([name, { scans, rows, scannedRows }]) => {
        const earlier = before.get(name) ?? { scans: 0, rows: 0, scannedRows: 0 }
        return isTooMuch({
          scans: scans - earlier.scans,
          rows: rows - earlier.rows,
          scannedRows: scannedRows - earlier.scannedRows,
        })
      })
      .map(([name]) => name)
  })
}

type Reads = { scans: number; rows: number; scannedRows: number }

async function countReads(tx: Db): Promise<Map<string, Reads>> {
  const { rows } = await tx.query<{ name: string } & Reads>({
    name: 'count_reads',
    text: `select relname as name, seq_scan as scans, coalesce(idx_tup_fetch, 0) as rows, seq_tup_read as "scannedRows"
             from pg_stat_xact_user_tables
            where relname ~ '^(messages|idempotency|outbox|provider_refs|parked_receipts|message_parts|wallets|pools|events)'
            order by relname`,
  })
  return new Map(rows.map(({ name, ...reads }) => [name, reads]))
}

const byLockOrder = (a: { accountId: string; id: string }, b: { accountId: string; id: string }) =>
  a.accountId + a.id < b.accountId + b.id ? -1 : 1

function rowsOf(count: number, more: Partial<AcceptRow> = {}): AcceptRow[] {
  return Array.from({ length: count }, (_, at) => {
    const accountId = accounts[at % accounts.length]!
    const id = ids.next('msg')
    const claim = { operation: 1, key: `plans ${id}`, bodyHash: Buffer.of(1) }
    return acceptRow(
      { accountId, id, connectionId, dueAt: Date.now() },
      { claim, pooled: accountId === accounts[1], ...more },
    )
  }).sort(byLockOrder)
}

function receiptOf(providerId: string): ReceiptRow {
  return {
    connectionId,
    providerId,
    status: 'delivered',
    atMs: null,
    providerCode: null,
    errorCode: null,
    detail: null,
    eventId: ids.next('evt'),
  }
}

function settlesOf(rows: readonly AcceptRow[]) {
  const kinds = ['sent', 'failed', 'queued', 'unknown'] as const
  return rows.map((row, at) => {
    const kind = kinds[at % kinds.length]!
    return settleRow(
      { ...row, eventId: ids.next('evt') },
      {
        kind,
        providerId: kind === 'sent' ? `plans ${row.id}` : null,
        dueAt: Date.now() - 1,
        answer: kind === 'queued' ? null : kind === 'unknown' ? 'queued' : kind,
        keyToFree: kind === 'failed' ? row.claim : null,
      },
    )
  })
}

/** Every statement that runs per message or per request, with the tables that it scanned, if any. */
async function callEverything(look: Look = scanned): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  const nowMs = Date.now()
  const rows = rowsOf(60)
  const held = rowsOf(30, { begun: false, status: 'queued' })
  const waiting = rowsOf(30, { begun: false, owned: false, status: 'queued', dueAt: nowMs - 1 })
  const sent = settlesOf(rows)
  const first = rows[0]!
  const check = async (name: string, work: (tx: Db) => Promise<unknown>) => {
    const tables = await look(work)
    if (tables.length > 0) found[name] = tables
  }

  await check('accept', tx => acceptSends(tx, node, nowMs, rows, false))
  await check('accept, repeated', tx => acceptSends(tx, node, nowMs, rows, true))
  await check('accept, held', tx => acceptSends(tx, node, nowMs, held, false))
  await check('accept, waiting', tx => acceptSends(tx, node, nowMs, waiting, false))
  await check('accept, keys taken', tx =>
    acceptSends(tx, node, nowMs, rows.map(row => ({ ...row, id: ids.next('msg') })).sort(byLockOrder), false),
  )
  await check('accept, too dear', tx => acceptSends(tx, node, nowMs, rowsOf(5, { amount: 9_000_000 }), false))
  await check('begin', tx => beginAttempts(tx, node, nowMs, held, false))
  await check('begin, repeated', tx => beginAttempts(tx, node, nowMs, held, true))
  await check('receipts before their answer', tx =>
    applyReceipts(tx, nowMs, [receiptOf(`plans ${first.id}`)]),
  )
  await check('settle', tx => settleAttempts(tx, nowMs, sent, false))
  await check('settle, repeated', tx => settleAttempts(tx, nowMs, sent, true))
  await check('receipts', tx =>
    applyReceipts(
      tx,
      nowMs,
      sent.filter(row => row.providerId).map(row => receiptOf(row.providerId!)),
    ),
  )
  const whole = { connectionId, wholeId: `parts of ${first.id}`, partIds: [`a ${first.id}`], total: 2 }
  await check('note parts', tx => storeParts(tx, nowMs, [whole]))
  await check('a receipt of a part', tx => applyReceipts(tx, nowMs, [receiptOf(`a ${first.id}`)]))
  await check('join parts', tx => joinParts(tx, nowMs, [{ connectionId, partId: `a ${first.id}` }]))
  await check('recipients', tx =>
    selectRecipients(tx, connectionId, [`plans ${first.id}`, `a ${first.id}`, 'nobody']),
  )
  await check('claim', tx => claimDue(tx, node, nowMs, [{ connectionId, limit: 50 }]))
  await check('give back', tx => releaseRows(tx, node, waiting))
  await check('cancel', tx => cancelMessage(tx, nowMs, waiting[0]!.accountId, waiting[0]!.id))
  await check('unwanted', tx =>
    endMessages(tx, nowMs, new Map(waiting.slice(1, 3).map(row => [row, 'unreadable']))),
  )
  await check('withdraw', tx => withdrawUnconfirmed({ ...db, transaction: work => work(tx) }, nowMs, waiting))
  await check('close unknown', tx => closeUnknown(tx, nowMs, 500))
  await check('claim lookups', tx => claimLookups(tx, nowMs, [{ connectionId, limit: 50 }], [1_000]))
  await check('note echoes', tx =>
    storeReceiptAttempts(tx, [
      { connectionId, providerId: `echo ${first.id}`, id: first.id, attempt: 1, ofPart: true },
    ]),
  )
  await check('fix an answer', tx => fixAnswer(tx, first.accountId, first.id))
  await check('is an answer pending', tx => isAnswerPending(tx, first.accountId, first.id, nowMs))
  const claim = { operation: 1, key: 'refused', bodyHash: Buffer.of(1) }
  await check('store a refusal', tx =>
    claimKeyForRefusal(tx, first.accountId, claim, { status: 400, body: '{}' }, nowMs),
  )
  await check('drop a key', tx => dropMessageKey(tx, first.accountId, claim, first.id))
  await check('drop an expired key', tx => dropExpiredKey(tx, first.accountId, claim, nowMs - DAY_MS))
  await check('read', tx => readMessage(tx, first.accountId, first.id))
  await check('list', tx =>
    listMessages(tx, first.accountId, { status: 'sent' }, { before: null, stoppedAt: null, limit: 50 }),
  )
  await check('list, by time', tx =>
    listMessages(
      tx,
      first.accountId,
      { createdAfterMs: nowMs - DAY_MS },
      { before: ids.next('msg') as MessageId, stoppedAt: null, limit: 50 },
    ),
  )
  return found
}

/** Applies receipts that name our attempts: of an unknown message, of one that waits for its retry, and of a part. */
async function adoptEchoes(look: Look = scanned): Promise<string[]> {
  const nowMs = Date.now()
  const [lost, denied, inParts] = rowsOf(3).map(row => ({ ...row, accountId: accounts[0]!, parts: 2 }))
  const rows = [lost!, denied!, inParts!]
  await acceptSends(db, node, nowMs, rows, false)
  const kinds = ['unknown', 'queued', 'unknown'] as const
  const ends = rows.map((row, at) =>
    settleRow(
      { ...row, eventId: ids.next('evt') },
      { kind: kinds[at]!, dueAt: nowMs + DAY_MS, answer: kinds[at] === 'unknown' ? 'queued' : null },
    ),
  )
  await settleAttempts(db, nowMs, ends, false)
  await applyReceipts(
    db,
    nowMs,
    rows.map(row => receiptOf(`echo of ${row.id}`)),
  )
  await storeReceiptAttempts(
    db,
    rows.map(row => ({
      connectionId,
      providerId: `echo of ${row.id}`,
      id: row.id,
      attempt: 1,
      ofPart: row === inParts,
    })),
  )
  const tables = await look(tx => applyParked(tx, nowMs, nowMs - 300_000))
  const statuses = await Promise.all(
    rows.map(async row => (await readMessage(db, row.accountId, row.id))?.status),
  )
  expect(statuses).toEqual(['delivered', 'delivered', 'unknown'])
  return tables
}

const testFrom17 = test.skipIf(isServerBefore(17))
const testFrom18 = test.skipIf(isServerBefore(18))

describe('the statements that run for messages', () => {
  beforeAll(open)
  afterAll(close)

  testFrom18('scan no table but message_parts while the tables are empty', async () => {
    expect(await callEverything()).toEqual({})
    expect(await adoptEchoes()).toEqual(['message_parts'])
  })

  test('scan no table of many rows that has no statistics', async () => {
    await fill()
    expect(await callEverything()).toEqual({})
    const far = Array.from({ length: 20 }, (_, at) => receiptOf(`ref ${(at + 1) * (MANY / 20)}`))
    expect(await scanned(tx => applyReceipts(tx, Date.now(), far))).toEqual([])
  }, 120_000)

  testFrom18('scan only message_parts and the outbox if they belong to chores', async () => {
    const nowMs = Date.now()
    // Of `message_parts` only the first row is read, to see whether there is any.
    const read = (work: (tx: Db) => Promise<unknown>) => scanned(work, MANY)
    expect(await adoptEchoes()).toEqual(['message_parts'])
    // Most parked receipts match no message, and are not read each time.
    expect(await scanned(tx => applyParked(tx, nowMs, nowMs - 300_000))).toEqual(['message_parts'])
    expect(await read(tx => applyParked(tx, nowMs))).toEqual(['message_parts'])
    expect(await read(tx => reclaimFromDead(tx, nowMs, nowMs + DAY_MS, 1_000))).toEqual(['outbox'])
    expect(await read(tx => sweepKeys(tx, nowMs - DAY_MS, 20_000))).toEqual([])
    expect(await read(tx => sweepParked(tx, nowMs - DAY_MS, 20_000))).toEqual([])
    expect(await read(tx => listOwned(tx, node, [], 0))).toEqual([])
    await db.query({
      name: 'plans_connection',
      text: `insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types,
          send_mode_by_type)
        values ($1, $2, 'http-sms', 'here', '{local_sms}', '{}', 1, 0, '{}', '{}')`,
      values: [toUuid(accounts[0]!), toUuid(connectionId)],
    })
    expect(await scanned(tx => failStranded(tx, nowMs, 500))).toEqual([])
  })

  test('count a bounded number of messages for the metrics, and estimate a backlog', async () => {
    const most = 1_000
    const nowMs = Date.now()
    const laterMs = nowMs + 2 * DAY_MS
    for (const change of ['discard plans', 'vacuum analyze outbox']) {
      await inOrder([change])
      for (const atMs of [nowMs, laterMs]) {
        const count = (tx: Db) => countOutbox(tx, atMs, most)
        expect(await readBy(count, ({ scans, rows }) => scans > 0 || rows > 3 * most)).toEqual([])
      }
    }
    const { rows } = await db.query<{ waiting: number; unknown: number }>({
      name: 'exact_outbox',
      text: `select count(*) filter (where not begun) as waiting, count(*) filter (where begun) as unknown from outbox
              where owner is null`,
    })
    const exact = rows[0]!
    expect(await countOutbox(db, laterMs, 2 * MANY)).toEqual(exact)
    const estimated = await countOutbox(db, laterMs, most)
    expect(Math.abs(estimated.waiting - exact.waiting)).toBeLessThan(exact.waiting / 10)
    expect(Math.abs(estimated.unknown - exact.unknown)).toBeLessThan(exact.unknown / 10)
    // More are scheduled than are counted, so that nothing tells how many of those that wait are due.
    expect((await countOutbox(db, nowMs, most)).waiting).toBeLessThanOrEqual(most)
  })

  test('are reported by this test if they scan a table', async () => {
    const readAll = (tx: Db) => tx.query({ name: 'read_all', text: 'select count(amount) from messages' })
    expect(await scanned(readAll)).toContain('messages_other')
  })
})

describe('the statements that run for messages, where autovacuum found the tables empty', () => {
  beforeAll(open)
  afterAll(close)

  testFrom17('read few rows of tables that have been filled since', { timeout: 120_000 }, async () => {
    // To the planner each table has one row then: reading all of it would be as good as a look-up. The outbox is
    // often found empty, and the next job fills it within seconds.
    await inOrder(['vacuum analyze'])
    await callEverything()
    await adoptEchoes()
    await fill(20_000)
    expect(await callEverything(readMuch)).toEqual({})
    expect(await adoptEchoes(readMuch)).toEqual([])
  })
})

describe('the statements that run for messages, where autovacuum came after a backlog had gone', () => {
  beforeAll(open)
  afterAll(close)

  testFrom17('read few rows of tables that have been filled since', { timeout: 120_000 }, async () => {
    // The empty pages stay where they are if somebody else uses the table; the planner takes each for an empty one then,
    // however many there are.
    await callEverything()
    await inOrder([...GROWING.map(table => `delete from ${table}`), 'vacuum (analyze, truncate false)'])
    await callEverything()
    await fill(20_000)
    // Keys of sends that nobody confirmed are freed after an outage only, in a statement of its own.
    expect(await callEverything(readMuch)).toEqual({ withdraw: ['idempotency'] })
    expect(await adoptEchoes(readMuch)).toEqual([])
  })
})
