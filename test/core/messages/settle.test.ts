import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Outcome, Receipt } from '../../../src/channels/provider.ts'
import { failOver } from '../../../src/core/messages/failover-store.ts'
import {
  acceptSends,
  beginAttempts,
  type ReceiptRow,
  type SettleRow,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import { readMessage } from '../../../src/core/messages/message-store.ts'
import { createMessageParts } from '../../../src/core/messages/parts.ts'
import { createReceipts } from '../../../src/core/messages/receipts.ts'
import { createSettle, type Settle } from '../../../src/core/messages/settle.ts'
import { settleOutcome } from '../../../src/core/messages/transitions.ts'
import { viewWithTimeline } from '../../../src/core/messages/view.ts'
import { storeParts, sweepParts } from '../../../src/core/outbox/parts-store.ts'
import {
  applyParked,
  closeUnknown,
  type ReceiptAttempt,
  storeReceiptAttempts,
} from '../../../src/core/outbox/reconcile-store.ts'
import { claimDue, releaseRows } from '../../../src/core/outbox/store.ts'
import { sweepAllProviderRefs, sweepProviderRefs } from '../../../src/core/outbox/sweep-store.ts'
import { type Database, DatabaseUnavailable, type Db, type Query } from '../../../src/infra/db.ts'
import { type AccountId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

const NODE = 1
const OTHER_NODE = 2

let database: TestDatabase
let clock: FakeClock
let account: AccountId
/** Runs once the next `settle_attempts` has been executed; then its response is lost. */
let interfere: (() => Promise<void>) | null
let settle: Settle
const ids = createIds(createFakeClock(Date.UTC(2026, 3, 1)), createRandom())
const connectionId = ids.next('cnn')

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 3, 1))
  account = ids.next('acc')
  interfere = null
  await database.db.query({
    name: 'settle_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 10000, 10000)',
    values: [toUuid(account)],
  })
  settle = createSettle({ db: losing(), clock, stopping: () => false })
})

function losing(): Database {
  const query = async (request: Query) => {
    const answer = await database.db.query(request)
    const work = interfere
    if (!work || request.name !== 'settle_attempts') return answer
    interfere = null
    await work()
    throw new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
  }
  return { ...database.db, query } as Database
}

async function accepted(count: number): Promise<MessageId[]> {
  const rows = Array.from({ length: count }, () =>
    acceptRow({ accountId: account, id: ids.next('msg'), connectionId, dueAt: clock.now() }),
  )
  await acceptSends(database.db, NODE, clock.now(), rows, false)
  return rows.map(row => row.id)
}

function outcome(id: MessageId, more: Partial<SettleRow> = {}): SettleRow {
  return settleRow({ accountId: account, id, connectionId, eventId: ids.next('evt') }, more)
}

function receipt(providerId: string, status: 'delivered' | 'read' | 'failed' = 'delivered') {
  return {
    connectionId,
    providerId,
    status,
    atMs: null,
    providerCode: null,
    errorCode: status === 'failed' ? ('CHATAPP_NOT_REGISTERED' as const) : null,
    detail: null,
    eventId: ids.next('evt'),
  }
}

async function statuses(): Promise<string[]> {
  const { rows } = await database.db.query<{ status: string }>({
    name: 'settle_statuses',
    text: 'select status from messages where account_id = $1 order by id',
    values: [toUuid(account)],
  })
  return rows.map(({ status }) => status)
}

/** Advances the clock until the work is done. */
async function during<T>(work: Promise<T>): Promise<T> {
  let done = false
  const end = () => {
    done = true
  }
  work.then(end, end)
  while (!done) {
    await clock.advance(50)
    await database.db.query({ name: 'turn', text: 'select 1' })
  }
  return work
}

describe('a flush of several outcomes and receipts', () => {
  test('an outcome that the database refuses does not fail the others', async () => {
    const messages = await accepted(9)
    const results = await Promise.allSettled(
      messages.map((id, at) =>
        settle.attempt(outcome(id, at === 4 ? { errorDetail: 'a\u0000b' } : { answer: 'sent' })),
      ),
    )
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual(messages.map((_, at) => at !== 4))
    expect(await statuses()).toEqual(messages.map((_, at) => (at === 4 ? 'sending' : 'sent')))
  })

  test('settles every message of a provider that gives all of them the same id', async () => {
    const messages = await accepted(12)
    const actual = await Promise.all(
      messages.map(id => settle.attempt(outcome(id, { providerId: '0', answer: 'sent' }))),
    )
    expect(actual).toEqual(messages.map(() => ({ answer: 'sent' })))
    expect(await statuses()).toEqual(messages.map(() => 'sent'))
    // The receipt can be for only one of them.
    expect(await settle.receipt(receipt('0'))).toBe(true)
    expect((await statuses()).filter(status => status === 'delivered')).toHaveLength(1)
  })

  test('receipts that arrive before the submit response are applied after it, in order', async () => {
    const [id] = await accepted(1)
    const early = [settle.receipt(receipt('early')), settle.receipt(receipt('early', 'read'))]
    expect(await Promise.all(early)).toEqual([false, false])
    expect(await statuses()).toEqual(['sending'])
    await settle.attempt(outcome(id!, { providerId: 'early' }))
    expect(await statuses()).toEqual(['read'])
    const { rows } = await database.db.query<{ whole: boolean }>({
      name: 'settle_times',
      text: 'select sent_at is not null and delivered_at is not null and read_at is not null as whole from messages where account_id = $1',
      values: [toUuid(account)],
    })
    expect(rows).toEqual([{ whole: true }])
  })

  test('a receipt that fails does not fail the outcomes of the same flush', async () => {
    const [id] = await accepted(1)
    const [actual, failed] = await Promise.allSettled([
      settle.attempt(outcome(id!, { answer: 'sent' })),
      settle.receipt({ ...receipt('whatever'), detail: 'a\u0000b' }),
    ])
    expect(actual).toEqual({ status: 'fulfilled', value: { answer: 'sent' } })
    expect(failed.status).toBe('rejected')
  })
})

describe('the code of a receipt', () => {
  async function codeAfter(providerCode: string, more: Parameters<typeof acceptRow>[1]) {
    const row = acceptRow({ accountId: account, id: ids.next('msg'), connectionId, dueAt: clock.now() }, more)
    await acceptSends(database.db, NODE, clock.now(), [row], false)
    await settle.attempt(outcome(row.id, { providerId: row.id }))
    await settle.receipt({ ...receipt(row.id), providerCode })
    return (await readMessage(database.db, account, row.id))!.providerCode
  }
  const utility = { content: JSON.stringify({ text: 'Your parcel is here' }) }
  const otp = { messageType: 'otp', content: JSON.stringify({ text: null }) } as const

  test.each([
    ['a sentence that quotes the text', 'blocked: Your parcel is here!', utility, 'withheld'],
    ['another sentence', 'blocked: parcel', utility, 'blocked: parcel'],
    [
      'a sentence, for a text that is too short to tell',
      'blocked: Hi',
      { content: '{"text":"Hi"}' },
      'blocked: Hi',
    ],
    ['a sentence about a one-time code', 'blocked: Your code is 123456', otp, 'withheld'],
    ['a word about a one-time code', '0x0000000B', otp, '0x0000000B'],
  ])('is kept or withheld: %s', async (_, code, more, kept) => {
    expect(await codeAfter(code, more)).toBe(kept)
  })
})

test('equal receipts of one call are stored once, and the attempt that others of one id name is stored once', async () => {
  const [id] = await accepted(1)
  let attemptsStored = 0
  const query = (request: Query) => {
    if (request.name === 'store_receipt_attempts') attemptsStored = rowsOf(request)
    return database.db.query(request)
  }
  const db = { ...database.db, query } as Database
  const observed: string[] = []
  const receipts = createReceipts({
    db,
    clock,
    ids,
    stopping: () => false,
    settle,
    parts: createMessageParts({ db, clock, stopping: () => false }),
    conclude: {} as never,
    handOver() {},
    observe: status => void observed.push(status),
  })
  const told = (status: Receipt['status'], atMs: number): Receipt => ({
    kind: 'receipt',
    providerId: `wamid of ${id}`,
    attemptId: `${id}.1`,
    status,
    atMs,
    providerCode: null,
    detail: null,
  })
  const [sent, delivered, later] = [told('sent', 1), told('delivered', 2), told('delivered', 3)]
  await receipts.apply(connectionId, [sent, delivered, { ...sent }, { ...delivered }, later, { ...sent }])
  const { rows } = await database.db.query<{ status: string }>({
    name: 'settle_parked_equal',
    text: 'select status from parked_receipts where provider_id = $1 order by id',
    values: [`wamid of ${id}`],
  })
  expect(rows.map(({ status }) => status)).toEqual(['sent', 'delivered', 'delivered'])
  expect(observed).toEqual(['sent', 'delivered', 'delivered'])
  expect(attemptsStored).toBe(1)
})

/** How many rows a statement gets, whose first value is a binary array: its length follows its type. */
const rowsOf = ({ values = [] }: Query) => (values[0] as Buffer).readInt32BE(12)

test('receipts are matched for a week after the send, also of a message scheduled a month ahead', async () => {
  const DAY_MS = 86_400_000
  const id = ids.next('msg')
  const scheduledAt = clock.now() + 30 * DAY_MS
  const row = acceptRow(
    { accountId: account, id, connectionId, dueAt: scheduledAt },
    { status: 'scheduled', scheduledAt, owned: true, begun: false },
  )
  await acceptSends(database.db, NODE, clock.now(), [row], false)
  await beginAttempts(database.db, NODE, scheduledAt, [row], false)
  await settleAttempts(database.db, scheduledAt, [outcome(id, { providerId: 'a month later' })], false)
  const sweep = (atMs: number) => sweepAllProviderRefs(database.db, atMs - 7 * DAY_MS)
  await sweep(scheduledAt + DAY_MS)
  expect(await settle.receipt(receipt('a month later'))).toBe(true)
  await sweep(scheduledAt + 8 * DAY_MS)
  expect(await settle.receipt(receipt('a month later', 'read'))).toBe(false)
})

/** How many rows of the table of provider ids this database session has read. */
async function readRefs(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ read: number }>({
    name: 'settle_refs_read',
    text: `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
             from pg_stat_xact_user_tables where relname = 'provider_refs'`,
  })
  return rows[0]!.read
}

test('the sweep of provider ids reads the given pages once, deletes their old ones and keeps the recent ones', async () => {
  const { db } = database
  const ids = async () => {
    const { rows } = await db.query<{ old: number; young: number }>({
      name: 'settle_refs_left',
      text: `select count(*) filter (where provider_id like 'old %')::integer as old,
                    count(*) filter (where provider_id like 'young %')::integer as young from provider_refs`,
    })
    return rows[0]!
  }
  const pages = async () => {
    const { rows } = await db.query<{ pages: number }>({
      name: 'settle_ref_pages',
      text: `select (pg_relation_size('provider_refs') / current_setting('block_size')::bigint)::integer as pages`,
    })
    return rows[0]!.pages
  }
  const until = new Date(clock.now()).toISOString()
  await db.query({
    name: 'settle_refs',
    text: `insert into provider_refs (connection_id, provider_id, account_id, message_id)
             select $1, case n % 2 when 0 then 'old ' else 'young ' end || n, $2,
                    uuid_at($3::timestamptz + case n % 2 when 0 then interval '-1 day' else interval '1 day' end)
               from generate_series(1, 2000) n`,
    values: [toUuid(connectionId), toUuid(account), until],
  })
  const all = await pages()
  expect(all).toBeGreaterThan(4)
  /** Sweeps pages, and counts the rows that it read. */
  const sweep = (fromPage: number, count: number) =>
    db.transaction(async tx => {
      const before = await readRefs(tx)
      const more = await sweepProviderRefs(tx, clock.now(), fromPage, count)
      return { more, read: (await readRefs(tx)) - before }
    })
  const stored = await db.query({ name: 'settle_refs_stored', text: 'select 1 from provider_refs' })
  const first = await sweep(0, all - 2)
  expect(first.more).toBe(true)
  const left = await ids()
  expect(left.young).toBe(1_000)
  expect(left.old).toBeGreaterThan(0)
  expect(left.old).toBeLessThan(1_000)
  const last = await sweep(all - 2, 2)
  expect(last.more).toBe(false)
  expect(first.read + last.read).toBe(stored.rows.length)
  expect(await ids()).toEqual({ old: 0, young: 1_000 })
})

describe('a receipt that reports a rejection after the submit', () => {
  async function wallet() {
    const { rows } = await database.db.query({
      name: 'settle_wallet_of',
      text: 'select balance, held, captured from wallets where account_id = $1',
      values: [toUuid(account)],
    })
    return rows[0]
  }

  async function message() {
    const { rows } = await database.db.query({
      name: 'settle_failed',
      text: `select status, money, error_code, sent_at is not null as sent, ended_at is not null as ended
        from messages where account_id = $1`,
      values: [toUuid(account)],
    })
    return rows[0]
  }

  /** Records the provider’s id of a message, as a receipt does that names our own id of the attempt. */
  async function nameAttempt(id: MessageId, providerId: string): Promise<void> {
    await database.db.query({
      name: 'settle_name',
      text: 'insert into provider_refs values ($1, $2, $3, $4)',
      values: [toUuid(connectionId), providerId, toUuid(account), toUuid(id)],
    })
  }

  const FAILED = { status: 'failed', money: 'released', error_code: 'CHATAPP_NOT_REGISTERED', ended: true }

  test('returns the captured money once', async () => {
    const [id] = await accepted(1)
    await settle.attempt(outcome(id!, { providerId: 'late', answer: 'sent' }))
    expect(await wallet()).toEqual({ balance: 9_990, held: 0, captured: 10 })
    expect(await settle.receipt(receipt('late', 'failed'))).toBe(true)
    expect(await wallet()).toEqual({ balance: 10_000, held: 0, captured: 0 })
    expect(await message()).toEqual({ ...FAILED, sent: true })
    expect(await settle.receipt(receipt('late', 'failed'))).toBe(false)
    expect(await settle.receipt(receipt('late', 'delivered'))).toBe(false)
    expect(await wallet()).toEqual({ balance: 10_000, held: 0, captured: 0 })
  })

  test('releases the hold of an unknown message and ends it', async () => {
    const [id] = await accepted(1)
    await settle.attempt(outcome(id!, { kind: 'unknown', dueAt: clock.now() + 86_400_000 }))
    await settle.receipt(receipt('named', 'failed'))
    await nameAttempt(id!, 'named')
    expect(await wallet()).toEqual({ balance: 9_990, held: 10, captured: 0 })
    expect(await applyParked(database.db, clock.now())).toBe(1)
    expect(await wallet()).toEqual({ balance: 10_000, held: 0, captured: 0 })
    expect(await message()).toEqual({ ...FAILED, sent: false })
    expect(await closeUnknown(database.db, clock.now() + 86_400_000, 10)).toBe(0)
  })

  test('is applied by applyParked if it was parked since the given time, or if it names an attempt', async () => {
    const [plain, named] = await accepted(2)
    for (const id of [plain!, named!]) {
      await settle.attempt(outcome(id, { kind: 'unknown', dueAt: clock.now() + 86_400_000 }))
      await settle.receipt(receipt(`to ${id}`, 'delivered'))
    }
    await nameAttempt(plain!, `to ${plain}`)
    await storeReceiptAttempts(database.db, [
      { connectionId, providerId: `to ${named}`, id: named!, attempt: 1, ofPart: false },
    ])
    const nowMs = clock.now()
    expect(await applyParked(database.db, nowMs, nowMs + 1)).toBe(1)
    expect(await applyParked(database.db, nowMs, nowMs)).toBe(1)
  })

  test('reaches a message that counts as sent since its deadline, if it names the attempt', async () => {
    const [refused, delivered] = await accepted(2)
    const deadlineMs = clock.now() + 86_400_000
    for (const id of [refused!, delivered!]) {
      await settle.attempt(outcome(id, { kind: 'unknown', dueAt: deadlineMs }))
    }
    expect(await closeUnknown(database.db, deadlineMs, 10)).toBe(2)
    expect(await wallet()).toEqual({ balance: 9_980, held: 0, captured: 20 })
    const late = [
      [refused!, 'failed', 1],
      [delivered!, 'delivered', 1],
      [delivered!, 'failed', 2],
    ] as const
    for (const [id, status, attempt] of late) {
      const providerId = `${status} ${id}`
      await settle.receipt(receipt(providerId, status))
      await storeReceiptAttempts(database.db, [{ connectionId, providerId, id, attempt, ofPart: false }])
    }
    expect(await applyParked(database.db, deadlineMs, deadlineMs)).toBe(2)
    expect((await statuses()).toSorted()).toEqual(['delivered', 'failed'])
    expect(await wallet()).toEqual({ balance: 9_990, held: 0, captured: 10 })
  })

  test('is parked until the submit response arrives', async () => {
    const [id] = await accepted(1)
    expect(await settle.receipt(receipt('soon', 'failed'))).toBe(false)
    await settle.attempt(outcome(id!, { providerId: 'soon', answer: 'sent' }))
    expect(await message()).toEqual({ ...FAILED, sent: true })
    expect(await wallet()).toEqual({ balance: 10_000, held: 0, captured: 0 })
  })

  test('has no effect on a message that has failed over to another connection', async () => {
    const [id] = await accepted(1)
    const other = ids.next('cnn')
    await settle.attempt(outcome(id!, { kind: 'unknown', dueAt: clock.now() + 86_400_000 }))
    await nameAttempt(id!, 'of the first')
    const refused = { outcome: 'rejected', code: null, providerCode: null, detail: 'not here' } as const
    const left = { accountId: account, id: id!, attempt: 1, ...refused }
    const over = { connectionId: other, provider: 'model', channel: 'int_sms', amount: 30 } as const
    const there = {
      ...over,
      sender: null,
      senderSource: 'platform',
      parts: null,
      newContent: null,
      secret: null,
    } as const
    expect(await failOver(database.db, NODE, clock.now(), left, there, false)).toBe('moved')
    await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id: id! }], false)
    await settle.attempt({
      ...outcome(id!, { attempt: 2, providerId: 'of the second' }),
      connectionId: other,
    })
    expect(await wallet()).toEqual({ balance: 9_970, held: 0, captured: 30 })

    expect(await settle.receipt(receipt('of the first', 'failed'))).toBe(false)
    expect(await statuses()).toEqual(['sent'])
    expect(await wallet()).toEqual({ balance: 9_970, held: 0, captured: 30 })
    expect(await settle.receipt({ ...receipt('of the second'), connectionId: other })).toBe(true)
    expect(await statuses()).toEqual(['delivered'])
  })

  test('has no effect on a delivered message', async () => {
    const [id] = await accepted(1)
    await settle.attempt(outcome(id!, { providerId: 'there', answer: 'sent' }))
    await settle.receipt(receipt('there', 'delivered'))
    expect(await settle.receipt(receipt('there', 'failed'))).toBe(false)
    expect(await wallet()).toEqual({ balance: 9_990, held: 0, captured: 10 })
  })
})

describe('a receipt for an attempt that the provider had reported as not taken', () => {
  /** A message that waits for its retry after such an attempt. */
  async function waiting(): Promise<MessageId> {
    const [id] = await accepted(1)
    const later = { kind: 'queued', dueAt: clock.now() + 60_000, errorDetail: 'later' } as const
    await settle.attempt(outcome(id!, { ...later, providerCode: '503' }))
    return id!
  }

  /** Applies a receipt that names our own id of the attempt. */
  async function receive(
    id: MessageId,
    status: ReceiptRow['status'],
    more: Partial<ReceiptAttempt> = {},
  ): Promise<void> {
    const echo = { connectionId, providerId: `of ${id}`, id, attempt: 1, ofPart: false, ...more }
    await settle.receipt({ ...receipt(echo.providerId), connectionId: echo.connectionId, status })
    await storeReceiptAttempts(database.db, [echo])
    await applyParked(database.db, clock.now())
  }

  /** The number of the attempt that begins when the message is due; null if none may begin. */
  async function beginWhenDue(id: MessageId): Promise<(number | null)[]> {
    await clock.advance(60_000)
    await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
    return beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)
  }

  async function wallet() {
    const { rows } = await database.db.query<{ balance: number; held: number; captured: number }>({
      name: 'settle_denied_wallet',
      text: 'select balance, held, captured from wallets where account_id = $1',
      values: [toUuid(account)],
    })
    return rows[0]
  }

  async function shown() {
    const { rows } = await database.db.query<object>({
      name: 'settle_denied_shown',
      text: `select status, money, provider_id, provider_code, error_detail, connection_id
               from messages where account_id = $1`,
      values: [toUuid(account)],
    })
    return rows[0]
  }

  const HELD = { balance: 9_990, held: 10, captured: 0 }
  const PAID = { balance: 9_990, held: 0, captured: 10 }

  test.each(['sent', 'delivered', 'read'] as const)(
    'cancels the retry: the message is %s and captured once',
    async status => {
      const id = await waiting()
      await receive(id, status)
      expect(await shown()).toEqual({
        status,
        money: 'captured',
        provider_id: `of ${id}`,
        provider_code: null,
        error_detail: null,
        connection_id: toUuid(connectionId),
      })
      expect(await wallet()).toEqual(PAID)
      expect(await beginWhenDue(id)).toEqual([null])
      await receive(id, 'read')
      expect(await statuses()).toEqual(['read'])
      expect(await wallet()).toEqual(PAID)
    },
  )

  test('makes the message unknown from then on, until the receipt is applied, which leaves no trace of that', async () => {
    const id = await waiting()
    await clock.advance(1_000)
    await settle.receipt(receipt(`of ${id}`))
    await storeReceiptAttempts(database.db, [
      { connectionId, providerId: `of ${id}`, id, attempt: 1, ofPart: false },
    ])
    await database.db.query({
      name: 'settle_denied_adopt',
      text: 'select adopt_echoes($1)',
      values: [new Date(clock.now()).toISOString()],
    })
    const found = await readMessage(database.db, account, id)
    expect(found).toMatchObject({ status: 'unknown', unknownAt: clock.now() })
    await applyParked(database.db, clock.now())
    const row = (await readMessage(database.db, account, id))!
    const { timeline } = viewWithTimeline(row, 'EUR', () => null)
    expect(timeline.map(entry => ('status' in entry ? entry.status : entry.outcome))).toEqual([
      'queued',
      'retry',
      'sent',
      'delivered',
    ])
    expect(timeline.filter(entry => 'unknownAt' in entry)).toEqual([])
  })

  test('ends a message that a node has already claimed for its retry', async () => {
    const id = await waiting()
    await clock.advance(60_000)
    const claimed = await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
    expect(claimed.map(row => row.id)).toContain(id)
    await receive(id, 'delivered')
    expect(await beginWhenDue(id)).toEqual([null])
    expect(await statuses()).toEqual(['delivered'])
    await releaseRows(database.db, NODE, [{ accountId: account, id }])
    expect(await wallet()).toEqual(PAID)
  })

  test('ends a message that has failed over to another connection of the same channel', async () => {
    const [id] = await accepted(1)
    await failOverTo(id!, 'local_sms')
    await receive(id!, 'delivered')
    expect(await shown()).toMatchObject({ status: 'delivered', connection_id: toUuid(connectionId) })
    expect(await wallet()).toEqual(PAID)
    expect(await beginWhenDue(id!)).toEqual([null])
  })

  test.each<[string, () => Promise<MessageId>, ReceiptRow['status'], () => Partial<ReceiptAttempt>]>([
    ['it reports the message as undelivered', waiting, 'undelivered', () => ({})],
    ['it names an attempt that was never made', waiting, 'delivered', () => ({ attempt: 2 })],
    ['it comes from another connection', waiting, 'delivered', () => ({ connectionId: ids.next('cnn') })],
    ['it covers one of several parts', inParts, 'delivered', () => ({ ofPart: true })],
  ])('has no effect if %s', async (_, wait, status, echo) => {
    const id = await wait()
    await receive(id, status, echo())
    expect(await statuses()).toEqual(['queued'])
    expect(await wallet()).toEqual(HELD)
    expect(await beginWhenDue(id)).toEqual([2])
  })

  test('has no effect on a message that has failed over to another channel at another price', async () => {
    const [id] = await accepted(1)
    await failOverTo(id!, 'int_sms')
    await receive(id!, 'delivered')
    expect(await statuses()).toEqual(['queued'])
    expect(await wallet()).toEqual({ balance: 9_970, held: 30, captured: 0 })
  })

  test('has no effect once the next attempt has begun', async () => {
    const id = await waiting()
    expect(await beginWhenDue(id)).toEqual([2])
    await receive(id, 'delivered')
    expect(await statuses()).toEqual(['sending'])
    expect(await settle.attempt(outcome(id, { attempt: 2, answer: 'sent' }))).toEqual({ answer: 'sent' })
    expect(await wallet()).toEqual(PAID)
  })

  test('has no effect while it is unknown whether the next attempt was taken', async () => {
    const id = await waiting()
    expect(await beginWhenDue(id)).toEqual([2])
    const unheard = { attempt: 2, kind: 'unknown', dueAt: clock.now() + 86_400_000 } as const
    await settle.attempt(outcome(id, unheard))
    await receive(id, 'delivered')
    expect(await statuses()).toEqual(['unknown'])
    expect(await wallet()).toEqual(HELD)
    await receive(id, 'delivered', { attempt: 2 })
    expect(await statuses()).toEqual(['delivered'])
    expect(await wallet()).toEqual(PAID)
  })

  async function inParts(): Promise<MessageId> {
    const id = await waiting()
    await database.db.query({
      name: 'settle_denied_parts',
      text: 'update messages set parts = 3 where account_id = $1',
      values: [toUuid(account)],
    })
    return id
  }

  async function failOverTo(id: MessageId, channel: 'local_sms' | 'int_sms'): Promise<void> {
    const refused = { outcome: 'rejected', code: null, providerCode: null, detail: 'not here' } as const
    const there = {
      connectionId: ids.next('cnn'),
      provider: 'another',
      channel,
      amount: channel === 'local_sms' ? 10 : 30,
      sender: null,
      senderSource: 'platform',
      parts: null,
      newContent: null,
      secret: null,
    } as const
    const left = { accountId: account, id, attempt: 1, ...refused }
    expect(await failOver(database.db, NODE, clock.now(), left, there, false)).toBe('moved')
  }
})

describe('a message that its provider has split into parts', () => {
  type Node = ReturnType<typeof node>

  function node() {
    const parts = createMessageParts({ db: database.db, clock, stopping: () => false })
    const own = createSettle({ db: database.db, clock, stopping: () => false })
    const receipts = createReceipts({
      db: database.db,
      clock,
      ids,
      stopping: () => false,
      settle: own,
      parts,
      conclude: {} as never,
      handOver() {},
      observe() {},
    })
    return { parts, receipts }
  }

  const receive = (at: Node, providerId: string, status = 'delivered', more: object = {}) =>
    at.receipts.apply(connectionId, [
      {
        kind: 'receipt',
        providerId,
        status,
        atMs: null,
        providerCode: null,
        detail: null,
        ...more,
      } as Receipt,
    ])

  async function shown(id: MessageId) {
    const { rows } = await database.db.query<{ status: string; provider_code: string | null }>({
      name: 'settle_parts_shown',
      text: 'select status, provider_code from messages where account_id = $1 and id = $2',
      values: [toUuid(account), toUuid(id)],
    })
    return rows[0]
  }

  /** A sent message with the part ids `<id>-a`, `<id>-b` and `<id>-c`. */
  async function sentInParts(at: Node, total = 3) {
    const [id] = await accepted(1)
    const partIds = ['a', 'b', 'c'].map(letter => `${id}-${letter}`)
    const whole = partIds.join()
    await at.parts.store(connectionId, { whole, ids: partIds, total })
    await settle.attempt(outcome(id!, { providerId: whole, answer: 'sent' }))
    return { id: id!, partIds: partIds as [string, string, string] }
  }

  test('is delivered once all its parts are, in any order and with receipts on two nodes', async () => {
    const [here, there] = [node(), node()]
    const { id, partIds } = await sentInParts(here)
    const [a, b, c] = partIds
    await receive(there, c)
    await receive(here, b, 'sent')
    await receive(here, a)
    await receive(there, a)
    expect(await shown(id)).toMatchObject({ status: 'sent' })
    await receive(here, b)
    expect(await shown(id)).toMatchObject({ status: 'delivered' })
  })

  test('is delivered when two nodes get the last two receipts concurrently', async () => {
    const [here, there] = [node(), node()]
    const { id, partIds } = await sentInParts(here)
    await receive(here, partIds[0])
    await Promise.all([receive(here, partIds[1]), receive(there, partIds[2])])
    expect(await shown(id)).toMatchObject({ status: 'delivered' })
  })

  test('is delivered when the receipts of its parts arrive before the submit response', async () => {
    const at = node()
    const [id] = await accepted(1)
    const ids = [`${id}-a`, `${id}-b`]
    await receive(at, ids[1]!)
    await receive(at, ids[0]!)
    await at.parts.store(connectionId, { whole: ids.join(), ids, total: 2 })
    await settle.attempt(outcome(id!, { providerId: ids.join(), answer: 'sent' }))
    expect(await shown(id!)).toMatchObject({ status: 'delivered' })
  })

  test('is delivered by its parked receipts when the node crashes right after storing the part ids', async () => {
    const at = node()
    const [id] = await accepted(1)
    const ids = [`${id}-a`, `${id}-b`]
    for (const each of ids) await receive(at, each)
    await storeParts(database.db, clock.now(), [
      { connectionId, wholeId: ids.join(), partIds: ids, total: 2 },
    ])
    await settle.attempt(outcome(id!, { providerId: ids.join(), answer: 'sent' }))
    expect(await shown(id!)).toMatchObject({ status: 'sent' })
    await applyParked(database.db, clock.now())
    expect(await shown(id!)).toMatchObject({ status: 'delivered' })
  })

  test('is undelivered at its first undelivered part, and stays undelivered', async () => {
    const at = node()
    const { id, partIds } = await sentInParts(at)
    await receive(at, partIds[0])
    await receive(at, partIds[1], 'undelivered', { providerCode: '045' })
    expect(await shown(id)).toEqual({ status: 'undelivered', provider_code: '045' })
    await receive(at, partIds[1])
    await receive(at, partIds[2])
    expect(await shown(id)).toEqual({ status: 'undelivered', provider_code: '045' })
  })

  test('stays sent if the provider did not take all its parts', async () => {
    const at = node()
    const { id, partIds } = await sentInParts(at, 4)
    for (const partId of partIds) await receive(at, partId)
    expect(await shown(id)).toMatchObject({ status: 'sent' })
  })

  test('of which only some parts were taken is unknown until a part is undelivered or the deadline passes', async () => {
    const at = node()
    const [delivered, undelivered, early] = await accepted(3)
    const pieces = (id: string) => ({ whole: `${id}-a,${id}-b,…`, ids: [`${id}-a`, `${id}-b`], total: 3 })
    const settlePartly = async (id: MessageId) => {
      await at.parts.store(connectionId, pieces(id))
      const partly: Outcome = { kind: 'unknown', detail: '2 of 3 parts were taken', pieces: pieces(id) }
      const policy = { maxAttempts: 3, backoffMs: 1_000, unknownDeadlineMs: 1_000 }
      await settle.attempt(outcome(id, settleOutcome(partly, 1, policy, clock.now(), createRandom())))
    }
    await settlePartly(delivered!)
    await settlePartly(undelivered!)
    await receive(at, `${delivered}-a`)
    await receive(at, `${delivered}-b`)
    expect([await shown(delivered!), await lastAttempt(delivered!)]).toMatchObject([
      { status: 'unknown' },
      { outcome: 'unknown' },
    ])
    await receive(at, `${undelivered}-a`)
    await receive(at, `${undelivered}-b`, 'undelivered', { providerCode: '011' })
    expect(await shown(undelivered!)).toEqual({ status: 'undelivered', provider_code: '011' })
    await receive(at, `${early}-a`, 'undelivered')
    await settlePartly(early!)
    expect(await shown(early!)).toMatchObject({ status: 'undelivered' })
    await clock.advance(1_000)
    await closeUnknown(database.db, clock.now(), 100)
    expect([await shown(delivered!), await lastAttempt(delivered!)]).toMatchObject([
      { status: 'sent' },
      { outcome: 'unknown' },
    ])
  })

  async function lastAttempt(id: MessageId) {
    const row = await readMessage(database.db, account, id)
    const { timeline } = viewWithTimeline(row!, 'USD', () => null)
    return timeline.findLast(entry => entry.event === 'attempt')
  }

  /** An SMS whose submit got no response, and a way to get receipts that name its attempt and one of its parts. */
  async function unansweredInParts(parts: number) {
    const [id] = await accepted(1)
    await database.db.query({
      name: 'settle_parts_of',
      text: 'update messages set parts = $3 where account_id = $1 and id = $2',
      values: [toUuid(account), toUuid(id!), parts],
    })
    await settle.attempt(outcome(id!, { kind: 'unknown', dueAt: clock.now() + 1_000, answer: 'queued' }))
    const more = { attemptId: `${id}.1`, ofPart: true }
    return {
      id: id!,
      more,
      receivePart: async (letter: string, status = 'delivered') => {
        await receive(node(), `${id}-${letter}`, status, more)
        await applyParked(database.db, clock.now())
      },
    }
  }

  test('without a submit response is delivered by the receipts of all its parts, not of some', async () => {
    const { id, receivePart } = await unansweredInParts(3)
    await receivePart('b', 'sent')
    await receivePart('a')
    await receivePart('c')
    expect(await shown(id)).toMatchObject({ status: 'unknown' })
    await receivePart('b')
    expect(await shown(id)).toMatchObject({ status: 'delivered' })
  })

  test('without a submit response is delivered when two nodes apply its parked receipts concurrently', async () => {
    const { id, more } = await unansweredInParts(2)
    for (const letter of ['a', 'b']) await receive(node(), `${id}-${letter}`, 'delivered', more)
    await Promise.all([applyParked(database.db, clock.now()), applyParked(database.db, clock.now())])
    await applyParked(database.db, clock.now())
    expect(await shown(id)).toMatchObject({ status: 'delivered' })
  })

  test('without a submit response is undelivered at its first undelivered part, or ends by its only part', async () => {
    const long = await unansweredInParts(2)
    await long.receivePart('b', 'undelivered')
    expect(await shown(long.id)).toMatchObject({ status: 'undelivered' })
    const short = await unansweredInParts(1)
    await short.receivePart('a')
    expect(await shown(short.id)).toMatchObject({ status: 'delivered' })
  })

  test('part ids that a provider reuses belong to the later message, and are swept by age', async () => {
    const at = node()
    const { id: first, partIds } = await sentInParts(at)
    const [second] = await accepted(1)
    await at.parts.store(connectionId, { whole: `${second}`, ids: partIds.slice(0, 2), total: 2 })
    await settle.attempt(outcome(second!, { providerId: `${second}`, answer: 'sent' }))
    await receive(at, partIds[0])
    await receive(at, partIds[1])
    expect([await shown(first), await shown(second!)]).toMatchObject([
      { status: 'sent' },
      { status: 'delivered' },
    ])
    expect(await sweepParts(database.db, clock.now(), 1_000)).toBe(0)
    expect(await sweepParts(database.db, clock.now() + 1, 1_000)).toBeGreaterThan(0)
    expect(await at.parts.joinReceipts(connectionId, partIds)).toEqual([false, false, false])
  })

  test('a part id that was the id of a whole message before belongs to the later message', async () => {
    const at = node()
    const [whole, long] = await accepted(2)
    const partIds = [`${long}-a`, `${long}-b`]
    await settle.attempt(outcome(whole!, { providerId: partIds[0]!, answer: 'sent' }))
    await at.parts.store(connectionId, { whole: partIds.join(), ids: partIds, total: 2 })
    await settle.attempt(outcome(long!, { providerId: partIds.join(), answer: 'sent' }))
    for (const partId of partIds) await receive(at, partId)
    expect([await shown(whole!), await shown(long!)]).toMatchObject([
      { status: 'sent' },
      { status: 'delivered' },
    ])
  })

  test('a receipt dated in the future counts from its arrival', async () => {
    const [id] = await accepted(1)
    await settle.attempt(outcome(id!, { providerId: `${id}`, answer: 'sent' }))
    await clock.advance(1_000)
    await receive(node(), `${id}`, 'delivered', { atMs: Date.UTC(9999, 11, 31) })
    await clock.advance(1_000)
    await receive(node(), `${id}`, 'read')
    const row = await readMessage(database.db, account, id!)
    expect(row).toMatchObject({ deliveredAt: clock.now() - 1_000, readAt: clock.now() })
  })

  test('a receipt is applied without its NUL characters', async () => {
    const [id] = await accepted(1)
    await settle.attempt(outcome(id!, { providerId: `${id}`, answer: 'sent' }))
    await receive(node(), `${id}\0`, 'undelivered', { providerCode: '000\0', detail: '\0' })
    expect(await shown(id!)).toEqual({ status: 'undelivered', provider_code: '000' })
  })
})

describe('throttled attempts', () => {
  test('only the first and the latest of consecutive throttled attempts are kept', async () => {
    const [id] = await accepted(1)
    const startMs = clock.now()
    const putOff = async (attempt: number, counted: boolean) => {
      await settle.attempt(
        outcome(id!, {
          attempt,
          kind: 'queued',
          uncounted: !counted,
          dueAt: clock.now(),
          providerCode: '88',
        }),
      )
      await clock.advance(1_000)
      await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
      await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id: id! }], false)
    }
    for (let n = 0; n < 5; n++) await putOff(1, false)
    await putOff(1, true)
    for (let n = 0; n < 4; n++) await putOff(2, false)
    const { rows } = await database.db.query<{ past: { attempt: number; at: string; counted: boolean }[] }>({
      name: 'settle_past',
      text: 'select past_attempts as past from messages where account_id = $1',
      values: [toUuid(account)],
    })
    const actual = rows[0]!.past.map(({ attempt, at, counted }) => [
      attempt,
      Date.parse(at) - startMs,
      counted,
    ])
    // The sixth attempt counts as a try, so the throttled attempts after it are a new series.
    expect(actual).toEqual([
      [1, 0, false],
      [1, 4_000, false],
      [1, 5_000, true],
      [2, 6_000, false],
      [2, 9_000, false],
    ])
  })
})

describe('when the response of the database is lost', () => {
  test('the outcome is stored once, and the repeat does not change the message', async () => {
    const [id] = await accepted(1)
    interfere = async () => {}
    // Null, because the repeat finds the outcome stored.
    expect(await during(settle.attempt(outcome(id!, { answer: 'sent' })))).toBeNull()
    expect(await statuses()).toEqual(['sent'])
  })

  test('the repeat does not requeue a throttled message whose next attempt has begun', async () => {
    const [id] = await accepted(1)
    interfere = async () => {
      await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
      const [attempt] = await beginAttempts(
        database.db,
        NODE,
        clock.now(),
        [{ accountId: account, id: id! }],
        false,
      )
      expect(attempt).toBe(1)
    }
    const throttled = outcome(id!, { kind: 'queued', uncounted: true, dueAt: clock.now() })
    expect(await during(settle.attempt(throttled))).toBeNull()
    // The provider has it: queued again, it would be sent twice.
    expect(await statuses()).toEqual(['sending'])
    expect(await settle.attempt(outcome(id!, { answer: 'sent' }))).toEqual({ answer: 'sent' })
  })

  test('the repeat does not requeue a message that was throttled again under the same attempt number', async () => {
    const [id] = await accepted(1)
    const throttled = (dueAt: number) => outcome(id!, { kind: 'queued', uncounted: true, dueAt })
    interfere = async () => {
      let nowMs = clock.now()
      const beginWhenDue = async () => {
        nowMs += 1_000
        await claimDue(database.db, OTHER_NODE, nowMs, [{ connectionId, limit: 10 }])
        const item = { accountId: account, id: id! }
        expect(await beginAttempts(database.db, OTHER_NODE, nowMs, [item], false)).toEqual([1])
      }
      await beginWhenDue()
      await settleAttempts(database.db, nowMs + 500, [throttled(nowMs + 500)], false)
      await beginWhenDue()
    }
    expect(await during(settle.attempt(throttled(clock.now())))).toBeNull()
    expect(await statuses()).toEqual(['sending'])
    const { rows } = await database.db.query<{ owner: number; begun: boolean }>({
      name: 'settle_owner',
      text: 'select owner, begun from outbox where account_id = $1',
      values: [toUuid(account)],
    })
    expect(rows).toEqual([{ owner: OTHER_NODE, begun: true }])
  })
})
