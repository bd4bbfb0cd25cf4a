import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { failOver } from '../../../src/core/messages/failover-store.ts'
import { acceptSends, beginAttempts, settleAttempts } from '../../../src/core/messages/hot-store.ts'
import { createMessages } from '../../../src/core/messages/read.ts'
import { cancelMessage } from '../../../src/core/messages/withdraw-store.ts'
import { registerNode } from '../../../src/core/outbox/node-store.ts'
import { claimDue } from '../../../src/core/outbox/store.ts'
import type { Db, Query } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

const ids = createIds(systemClock, createRandom())
const accountId: AccountId = ids.next('acc')
const connectionId = ids.next('cnn')

let database: TestDatabase
let node: number

beforeAll(async () => {
  database = await createTestDatabase()
  node = await registerNode(database.db, 'cancel', Date.now(), false)
  await database.db.query({
    name: 'cancel_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000, 1000)',
    values: [toUuid(accountId)],
  })
})
afterAll(() => database.drop())

async function dueMessage(): Promise<MessageId> {
  const id = ids.next('msg')
  const row = acceptRow(
    { accountId, id, connectionId, dueAt: Date.now() - 1 },
    { status: 'scheduled', scheduledAt: Date.now() - 1, owned: false, begun: false },
  )
  await acceptSends(database.db, node, Date.now(), [row], false)
  return id
}

/** Resolves once a database session waits for a lock. */
async function untilLockWait(): Promise<void> {
  for (;;) {
    const { rows } = await database.db.query<{ waits: boolean }>({
      name: 'someone_waits',
      text: `select exists (select 1 from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock') as waits`,
    })
    if (rows[0]!.waits) return
  }
}

async function wallet(): Promise<{ balance: number; held: number }> {
  const { rows } = await database.db.query<{ balance: number; held: number }>({
    name: 'cancel_read_wallet',
    text: 'select balance::float8 as balance, held::float8 as held from wallets where account_id = $1',
    values: [toUuid(accountId)],
  })
  return rows[0]!
}

const claim = (db: Db) => claimDue(db, node, Date.now(), [{ connectionId, limit: 10 }])
const begin = (db: Db, id: MessageId) => beginAttempts(db, node, Date.now(), [{ accountId, id }], false)
const cancel = (db: Db, id: MessageId) => cancelMessage(db, Date.now(), accountId, id)

test('a cancel during the recording of an attempt waits for it and then fails', async () => {
  const id = await dueMessage()
  await claim(database.db)
  let cancelled: Promise<boolean> | undefined
  await database.db.transaction(async tx => {
    expect(await begin(tx, id)).toEqual([1])
    cancelled = cancel(database.db, id)
    await untilLockWait()
  })
  expect(await cancelled).toBe(false)
  expect(await wallet()).toEqual({ balance: 990, held: 10 })
})

test('a cancel that waited during a failover to a dearer connection succeeds and releases the money', async () => {
  const id = await dueMessage()
  await claim(database.db)
  const before = await wallet()
  let cancelled: Promise<boolean> | undefined
  await database.db.transaction(async tx => {
    await begin(tx, id)
    cancelled = cancel(database.db, id)
    await untilLockWait()
    const refused = { outcome: 'rejected' as const, code: null, providerCode: null, detail: 'refused' }
    const there = { connectionId: ids.next('cnn'), provider: 'model', channel: 'int_sms' as const }
    const said = { sender: null, senderSource: 'platform' as const, parts: 1, newContent: null, secret: null }
    const left = { accountId, id, attempt: 1, ...refused }
    const to = { ...there, ...said, amount: 500 }
    expect(await failOver(tx, node, Date.now(), left, to, false)).toBe('moved')
  })
  expect(await cancelled).toBe(true)
  expect(await wallet()).toEqual({ balance: before.balance + 10, held: before.held - 10 })
})

test('an attempt is not recorded while a cancel is under way, and the money is released', async () => {
  const id = await dueMessage()
  await claim(database.db)
  const before = await wallet()
  let begun: Promise<(number | null)[]> | undefined
  await database.db.transaction(async tx => {
    expect(await cancel(tx, id)).toBe(true)
    begun = begin(database.db, id)
    await untilLockWait()
  })
  expect(await begun).toEqual([null])
  expect(await wallet()).toEqual({ balance: before.balance + 10, held: before.held - 10 })
})

test('a cancel during the claim of a message waits for it and then succeeds', async () => {
  const id = await dueMessage()
  const before = await wallet()
  let cancelled: Promise<boolean> | undefined
  await database.db.transaction(async tx => {
    expect((await claim(tx)).map(row => row.id)).toEqual([id])
    cancelled = cancel(database.db, id)
    await untilLockWait()
  })
  expect(await cancelled).toBe(true)
  expect(await begin(database.db, id)).toEqual([null])
  expect(await wallet()).toEqual({ balance: before.balance + 10, held: before.held - 10 })
})

test('a message that is being cancelled is neither claimed nor begun', async () => {
  const id = await dueMessage()
  await database.db.transaction(async tx => {
    expect(await cancel(tx, id)).toBe(true)
    expect(await claim(database.db)).toEqual([])
  })
  expect(await begin(database.db, id)).toEqual([null])
})

test('a message that is requeued during a cancel is cancelled', async () => {
  const id = await dueMessage()
  await claim(database.db)
  await begin(database.db, id)
  let putOff = false
  /** Ends the attempt after the cancel has failed because of it, and before the message is read. */
  const query = async (request: Query) => {
    const answer = await database.db.query(request)
    if (request.name === 'withdraw_messages' && !putOff) {
      putOff = true
      const eventId = ids.next('evt')
      const settled = settleRow(
        { accountId, id, connectionId, eventId },
        { kind: 'queued', dueAt: Date.now() },
      )
      await settleAttempts(database.db, Date.now(), [settled], false)
    }
    return answer
  }
  const messages = createMessages({
    db: { ...database.db, query } as Db,
    clock: systemClock,
    phones: createPhones({ cacheSize: 10 }),
    explain: () => null,
    officialNames: async () => () => null,
  })
  const caller = { account: { id: accountId, currency: 'USD' } } as Caller
  expect(await messages.cancel(caller, id)).toMatchObject({
    status: 'cancelled',
    billing: { state: 'released' },
  })
})
