import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { replacePools } from '../../../src/core/accounts/store.ts'
import {
  type AcceptRow,
  acceptSends,
  applyReceipts,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import { endMessages, withdrawUnconfirmed } from '../../../src/core/messages/withdraw-store.ts'
import { joinParts, storeParts } from '../../../src/core/outbox/parts-store.ts'
import { applyParked, closeUnknown } from '../../../src/core/outbox/reconcile-store.ts'
import { releaseRows } from '../../../src/core/outbox/store.ts'
import {
  RESENDS,
  type ResendRow,
  STARTS,
  type StartRow,
  VERIFICATION_OPERATION,
} from '../../../src/core/verification/accept-store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, type MessageId, toUuid, withPrefix } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { crossLocks } from '../../support/cross-locks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

const NODE = 1
const NOW = Date.UTC(2026, 3, 1)
const ids = createIds(systemClock, createRandom())
const connectionId = ids.next('cnn')

let database: TestDatabase
let account: AccountId

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  account = await funded()
})

async function funded(): Promise<AccountId> {
  const id = ids.next('acc')
  await database.db.query({
    name: 'order_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000, 1000)',
    values: [toUuid(id)],
  })
  return id
}

/** An account whose messages are paid from a pool. */
async function pooled(): Promise<AccountId> {
  const id = await funded()
  await database.db.query({
    name: 'order_pool',
    text: `insert into pools (account_id, id, channels, included, resets_at)
           values ($1, 1, '{local_sms}', 10, next_reset(now()))`,
    values: [toUuid(id)],
  })
  return id
}

async function accepted(accountId: AccountId, more: Partial<AcceptRow> = {}): Promise<AcceptRow> {
  const row = acceptRow({ accountId, id: ids.next('msg'), connectionId, dueAt: NOW }, more)
  await acceptSends(database.db, NODE, NOW, [row], false)
  return row
}

/** An unknown message whose provider's id is recorded. */
async function unknown(accountId: AccountId, providerId: string): Promise<AcceptRow> {
  const row = await accepted(accountId)
  const settled = settleRow({ ...row, eventId: ids.next('evt') }, { kind: 'unknown', dueAt: NOW })
  await settleAttempts(database.db, NOW, [settled], false)
  await database.db.query({
    name: 'order_ref',
    text: 'insert into provider_refs values ($1, $2, $3, $4)',
    values: [toUuid(connectionId), providerId, toUuid(accountId), toUuid(row.id)],
  })
  return row
}

async function becameUnknown(row: AcceptRow): Promise<void> {
  const settled = settleRow({ ...row, eventId: ids.next('evt') }, { kind: 'unknown', dueAt: NOW })
  await settleAttempts(database.db, NOW, [settled], false)
}

/** Parks a receipt that names our id of the first attempt; the provider's own id is that of the message. */
async function parkEcho({ id }: AcceptRow): Promise<void> {
  await database.db.query({
    name: 'order_echo',
    text: `insert into parked_receipts (connection_id, provider_id, status, received_at, message_id, attempt)
           values ($1, $2, 'delivered', $3, $4, 1)`,
    values: [toUuid(connectionId), id, new Date(NOW).toISOString(), toUuid(id)],
  })
}

async function adoptEchoes(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'order_adopt',
    text: 'select adopt_echoes($1) as n',
    values: [new Date(NOW).toISOString()],
  })
  return rows[0]!.n
}

/** A verification that is to be stored with its message. */
function startRow(accountId: AccountId, more: Partial<AcceptRow>): StartRow {
  const id = ids.next('msg')
  return {
    ...acceptRow({ accountId, id, connectionId, dueAt: NOW }, more),
    start: {
      verificationId: withPrefix('ver', id),
      recipientKey: more.recipient ?? '+12025550100',
      codeDigest: () => Buffer.of(1),
      validityMinutes: 10,
      startedAt: NOW,
      request: null,
      messages: [id],
      turn: null,
    },
  }
}

/** The first resend of a verification. */
function resendOf({ accountId, start }: StartRow, more: Partial<AcceptRow> = {}): ResendRow {
  const id = ids.next('msg')
  return {
    ...acceptRow({ accountId, id, connectionId, dueAt: NOW }, more),
    resend: {
      verificationId: start.verificationId,
      resends: 0,
      codeDigest: () => Buffer.of(2),
      messages: [id],
      sentAt: NOW,
      expiresAt: NOW + 600_000,
      resendAt: NOW + 60_000,
      turn: null,
    },
  }
}

/** Parks a receipt, as if it had arrived before the submit response. */
async function park(providerId: string, status: 'delivered' | 'failed' = 'delivered'): Promise<void> {
  await database.db.query({
    name: 'order_park',
    text: 'insert into parked_receipts (connection_id, provider_id, status, received_at) values ($1, $2, $4, $3)',
    values: [toUuid(connectionId), providerId, new Date(NOW).toISOString(), status],
  })
}

function receipt(providerId: string) {
  const nothing = { atMs: null, providerCode: null, errorCode: null, detail: null }
  return { connectionId, providerId, status: 'delivered' as const, ...nothing, eventId: ids.next('evt') }
}

const message = (id: MessageId) => (tx: Db) =>
  tx.query({
    name: 'order_message',
    text: 'select 1 from messages where id = $1 for update nowait',
    values: [toUuid(id)],
  })
const wallet = (id: AccountId) => (tx: Db) =>
  tx.query({
    name: 'order_hold_wallet',
    text: 'select 1 from wallets where account_id = $1 for update nowait',
    values: [toUuid(id)],
  })
const verification =
  ({ start }: StartRow) =>
  (tx: Db) =>
    tx.query({
      name: 'order_hold_verification',
      text: 'select 1 from verifications where id = $1 for update nowait',
      values: [toUuid(start.verificationId)],
    })
const outbox = (id: MessageId) => (tx: Db) =>
  tx.query({
    name: 'order_hold_outbox',
    text: 'select 1 from outbox where message_id = $1 for update nowait',
    values: [toUuid(id)],
  })
const pool =
  (id: AccountId, number = 1) =>
  (tx: Db) =>
    tx.query({
      name: 'order_hold_pool',
      text: 'select 1 from pools where account_id = $1 and id = $2 for update nowait',
      values: [toUuid(id), number],
    })

async function statuses(...rows: AcceptRow[]): Promise<string[]> {
  const { rows: found } = await database.db.query<{ status: string }>({
    name: 'order_statuses',
    text: 'select status from messages where id = any ($1::uuid[]) order by id',
    values: [`{${rows.map(row => toUuid(row.id)).join(',')}}`],
  })
  return found.map(({ status }) => status)
}

test('parked receipts lock all their messages before any wallet', async () => {
  const one = await unknown(account, 'one')
  const two = await unknown(account, 'two')
  await park('one')
  await park('two')
  await crossLocks(database.db, message(two.id), () => applyParked(database.db, NOW), wallet(account))
  expect(await statuses(one, two)).toEqual(['delivered', 'delivered'])
})

test('parked receipts lock wallets in the order of their accounts, whatever came first', async () => {
  const other = await funded()
  const later = await unknown(other, 'of the later account')
  const earlier = await unknown(account, 'of the earlier account')
  await park('of the later account')
  await park('of the earlier account')
  await crossLocks(database.db, wallet(account), () => applyParked(database.db, NOW), wallet(other))
  expect(await statuses(later, earlier)).toEqual(['delivered', 'delivered'])
})

test('receipts of parts lock all their messages before any wallet', async () => {
  const rows: AcceptRow[] = []
  for (const name of ['first', 'second']) {
    rows.push(await unknown(account, `${name},…`))
    const whole = { connectionId, wholeId: `${name},…`, partIds: [`${name} 1`, `${name} 2`], total: 2 }
    await storeParts(database.db, NOW, [whole])
    await park(`${name} 1`)
    await park(`${name} 2`)
  }
  const parts = ['first 1', 'second 1'].map(partId => ({ connectionId, partId }))
  await crossLocks(
    database.db,
    message(rows[1]!.id),
    () => joinParts(database.db, NOW, parts),
    wallet(account),
  )
  expect(await statuses(...rows)).toEqual(['delivered', 'delivered'])
})

test('receipts lock messages in the order of their accounts, whatever their provider ids are', async () => {
  const other = await funded()
  const later = await unknown(other, 'a')
  const earlier = await unknown(account, 'z')
  const receipts = [receipt('a'), receipt('z')]
  await crossLocks(
    database.db,
    message(earlier.id),
    () => applyReceipts(database.db, NOW, receipts),
    message(later.id),
  )
  expect(await statuses(later, earlier)).toEqual(['delivered', 'delivered'])
})

test('a withdrawal locks all its messages, begun or not, before any wallet', async () => {
  const begun = await accepted(account)
  const waits = await accepted(account, { status: 'queued', begun: false, owned: false })
  /** Takes the locks that a cancel takes. */
  const hold = async (tx: Db) => {
    await tx.query({
      name: 'order_outbox',
      text: 'select 1 from outbox where message_id = $1 for update',
      values: [toUuid(waits.id)],
    })
    await message(waits.id)(tx)
  }
  await crossLocks(
    database.db,
    hold,
    () => withdrawUnconfirmed(database.db, NOW, [begun, waits]),
    wallet(account),
  )
  expect(await statuses(begun, waits)).toEqual(['cancelled', 'cancelled'])
})

test('outcomes lock pools in the order of their accounts, also those that a parked receipt returns to', async () => {
  const [earlier, later] = [await pooled(), await pooled()]
  const refusedAfterAll = await accepted(earlier, { pooled: true })
  const refused = await accepted(later, { pooled: true })
  await park('refused after all', 'failed')
  const settles = [
    settleRow({ ...refusedAfterAll, eventId: ids.next('evt') }, { providerId: 'refused after all' }),
    settleRow({ ...refused, eventId: ids.next('evt') }, { kind: 'failed' }),
  ]
  const settle = () => settleAttempts(database.db, NOW, settles, false)
  await crossLocks(database.db, pool(earlier), settle, pool(later))
  expect(await statuses(refusedAfterAll, refused)).toEqual(['failed', 'failed'])
  const { rows } = await database.db.query<{ used: number }>({
    name: 'order_used',
    text: 'select used from pools where account_id = any ($1::uuid[])',
    values: [`{${toUuid(earlier)},${toUuid(later)}}`],
  })
  expect(rows).toEqual([{ used: 0 }, { used: 0 }])
})

const waiting = { status: 'queued', begun: false } as const

test('a withdrawal locks a message whose attempt is recorded before its row of the outbox, as outcomes do', async () => {
  const begun = await accepted(account)
  await crossLocks(
    database.db,
    message(begun.id),
    () => withdrawUnconfirmed(database.db, NOW, [begun]),
    outbox(begun.id),
  )
  expect(await statuses(begun)).toEqual(['cancelled'])
})

test('messages are ended in the order of their ids, whatever the order in which they were claimed', async () => {
  const [one, two] = [await accepted(account, waiting), await accepted(account, waiting)]
  const reasons = new Map([two, one].map(row => [row, 'expired'] as const))
  const end = () => endMessages(database.db, NOW, reasons)
  await crossLocks(database.db, outbox(one.id), end, outbox(two.id))
  expect(await statuses(one, two)).toEqual(['expired', 'expired'])
})

test('messages are released in the order of their ids, whatever the order in which they were held', async () => {
  const [one, two] = [await accepted(account, waiting), await accepted(account, waiting)]
  const release = () => releaseRows(database.db, NODE, [two, one])
  await crossLocks(database.db, outbox(one.id), release, outbox(two.id))
})

test('outcomes lock wallets in the order of their accounts, also those that a parked receipt of a part moves', async () => {
  const later = await funded()
  const partly = await accepted(account)
  const sent = await accepted(later)
  await park('partly,…')
  const settles = [
    settleRow(
      { ...partly, eventId: ids.next('evt') },
      { kind: 'unknown', dueAt: NOW, providerId: 'partly,…' },
    ),
    settleRow({ ...sent, eventId: ids.next('evt') }),
  ]
  const settle = () => settleAttempts(database.db, NOW, settles, false)
  await crossLocks(database.db, wallet(account), settle, wallet(later))
  expect(await statuses(partly, sent)).toEqual(['delivered', 'sent'])
})

test('two batches with the same idempotency keys claim them in the same order', async () => {
  const claimOf = (key: string) => ({ operation: 1, key, bodyHash: Buffer.of(1) })
  const rows = ['second', 'first'].map(key =>
    acceptRow({ accountId: account, id: ids.next('msg'), connectionId, dueAt: NOW }, { claim: claimOf(key) }),
  )
  const claim = (key: string) => (tx: Db) =>
    tx.query({
      name: 'order_claim',
      text: `insert into idempotency (account_id, operation, key, body_hash, created_at) values ($1, 1, $2, '\\x01', now())`,
      values: [toUuid(account), key],
    })
  let verdicts: { kind: string }[] = []
  const accept = async () => {
    verdicts = await acceptSends(database.db, NODE, NOW, rows, false)
  }
  await crossLocks(database.db, claim('first'), accept, claim('second'))
  expect(verdicts.map(({ kind }) => kind)).toEqual(['exists', 'exists'])
})

test('a start claims its idempotency key before it locks the wallet, as sends do', async () => {
  const starts = [
    startRow(account, { claim: { operation: VERIFICATION_OPERATION, key: 'code', bodyHash: Buffer.of(1) } }),
  ]
  const claim = (tx: Db) =>
    tx.query({
      name: 'order_claim_start',
      text: `insert into idempotency (account_id, operation, key, body_hash, created_at) values ($1, $2, 'code', '\\x01', now())`,
      values: [toUuid(account), VERIFICATION_OPERATION],
    })
  let verdicts: { kind: string }[] = []
  const accept = async () => {
    verdicts = await STARTS.accept(database.db, NODE, NOW, starts, false)
  }
  await crossLocks(database.db, claim, accept, wallet(account))
  expect(verdicts.map(({ kind }) => kind)).toEqual(['exists'])
})

test('a resend locks pools before its verification, as a withdrawal does that ends one', async () => {
  const live = await pooled()
  const start = startRow(live, { pooled: true })
  await STARTS.accept(database.db, NODE, NOW, [start], false)
  let verdicts: { kind: string }[] = []
  const resend = async () => {
    verdicts = await RESENDS.accept(database.db, NODE, NOW, [resendOf(start, { pooled: true })], false)
  }
  await crossLocks(database.db, pool(live), resend, verification(start))
  expect(verdicts).toEqual([{ kind: 'accepted' }])
})

test('a resend locks its wallet before its pools and its verification', async () => {
  const live = await pooled()
  const start = startRow(live, {})
  await STARTS.accept(database.db, NODE, NOW, [start], false)
  let verdicts: { kind: string }[] = []
  const resend = async () => {
    verdicts = await RESENDS.accept(database.db, NODE, NOW, [resendOf(start)], false)
  }
  const poolAndVerification = async (tx: Db) => {
    await pool(live)(tx)
    await verification(start)(tx)
  }
  await crossLocks(database.db, wallet(live), resend, poolAndVerification)
  expect(verdicts).toEqual([{ kind: 'accepted' }])
})

test('resends that are withdrawn lock their verifications in the order of ids, as checks do', async () => {
  const starts = ['+12025550101', '+12025550102'].map(recipient => startRow(account, { recipient }))
  await STARTS.accept(database.db, NODE, NOW, starts, false)
  const resends = starts.map(start => resendOf(start))
  for (const resend of resends) await RESENDS.accept(database.db, NODE, NOW, [resend], false)
  let gone = new Set<MessageId>()
  const withdraw = async () => {
    gone = await RESENDS.withdraw(database.db, NOW, resends.toReversed())
  }
  await crossLocks(database.db, verification(starts[0]!), withdraw, verification(starts[1]!))
  expect(gone.size).toBe(2)
})

test('receipts that name our ids wait for no message that another transaction has locked', async () => {
  const closed = await accepted(account)
  await becameUnknown(closed)
  // Counts as sent from now on.
  await closeUnknown(database.db, NOW, 1_000)
  const open = await accepted(account)
  await becameUnknown(open)
  const rows = [closed, open]
  for (const row of rows) await parkEcho(row)
  const named = async () => {
    const { rows: found } = await database.db.query<{ provider_id: string | null }>({
      name: 'order_provider_ids',
      text: 'select provider_id from messages where id = any ($1::uuid[]) order by id',
      values: [`{${rows.map(row => toUuid(row.id)).join(',')}}`],
    })
    return found.map(({ provider_id }) => provider_id)
  }
  await database.db.transaction(async tx => {
    await message(closed.id)(tx)
    expect(await adoptEchoes()).toBe(1)
    // It may be locked by a transaction that comes to the other one next.
    await message(open.id)(tx)
  })
  expect(await named()).toEqual([null, open.id])
  expect(await adoptEchoes()).toBe(1)
  expect(await named()).toEqual([closed.id, open.id])
})

test('a start with a test key locks no wallet, whatever other starts it is stored with', async () => {
  const live = await pooled()
  const starts = [startRow(account, { live: false }), startRow(live, { pooled: true })]
  await database.db.transaction(async tx => {
    await wallet(account)(tx)
    expect(await STARTS.accept(database.db, NODE, NOW, starts, false)).toEqual([
      { kind: 'accepted' },
      { kind: 'accepted' },
    ])
  })
})

test("a change of a plan's pools locks them in their order", async () => {
  const id = await pooled()
  await database.db.query({
    name: 'order_second_pool',
    text: `insert into pools (account_id, id, channels, included, resets_at) values ($1, 2, '{int_sms}', 10, next_reset(now()))`,
    values: [toUuid(id)],
  })
  const change = () =>
    database.db.transaction(tx => replacePools(tx, id, [{ id: 1, channels: ['local_sms'], limit: 20 }], NOW))
  await crossLocks(database.db, pool(id), change, pool(id, 2))
})
