import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endFutureMonths } from '../../../src/core/billing/pool-month-store.ts'
import { failOver } from '../../../src/core/messages/failover-store.ts'
import {
  acceptSends,
  applyReceipts,
  beginAttempts,
  type ReceiptRow,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import { cancelMessage } from '../../../src/core/messages/withdraw-store.ts'
import { closeUnknown } from '../../../src/core/outbox/reconcile-store.ts'
import { type AccountId, type ConnectionId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

/** What is returned to a pool if a new month starts between the steps of a message: only what that month counted. */

const NODE = 1
const MAY = Date.UTC(2026, 4, 1)
const JUNE = Date.UTC(2026, 5, 1)
const HOUR_MS = 3_600_000

let database: TestDatabase
let clock: FakeClock
let ids: ReturnType<typeof createIds>
let account: AccountId
let id: MessageId

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** A message accepted from the pool of its channel an hour before the new month. */
beforeEach(async () => {
  clock = createFakeClock(MAY - HOUR_MS)
  ids = createIds(clock, createRandom())
  account = ids.next('acc')
  await database.db.query({
    name: 'month_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 0, 0)',
    values: [toUuid(account)],
  })
  for (const [at, channel] of ['official_chatapp', 'local_sms'].entries()) {
    await database.db.query({
      name: 'month_pool',
      text: 'insert into pools (account_id, id, channels, included, used, resets_at) values ($1,$2,$3,10,3,$4)',
      values: [toUuid(account), at + 1, `{${channel}}`, new Date(MAY).toISOString()],
    })
  }
  id = ids.next('msg')
  const row = acceptRow(
    { accountId: account, id, connectionId: first, dueAt: clock.now() },
    { channel: 'official_chatapp', candidates: 'official_chatapp,local_sms', pooled: true },
  )
  expect(await acceptSends(database.db, NODE, clock.now(), [row], false)).toEqual([{ kind: 'accepted' }])
  expect(await used()).toEqual([4, 3])
})

async function used(): Promise<number[]> {
  const { rows } = await database.db.query<{ used: number }>({
    name: 'month_used',
    text: 'select used from pools where account_id = $1 order by id',
    values: [toUuid(account)],
  })
  return rows.map(row => row.used)
}

/** Fails the message over to SMS and begins its second attempt there. */
async function failOverToSms(): Promise<void> {
  const left = {
    accountId: account,
    id,
    attempt: 1,
    outcome: 'rejected' as const,
    code: null,
    providerCode: null,
    detail: 'not on the app',
  }
  const to = {
    connectionId: connection,
    provider: 'model',
    channel: 'local_sms' as const,
    sender: null,
    senderSource: 'platform' as const,
    amount: 10,
    parts: 1,
    newContent: null,
    secret: null,
  }
  expect(await failOver(database.db, NODE, clock.now(), left, to, false)).toBe('moved')
  expect(await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)).toEqual([
    2,
  ])
}

/** Another send starts the new month of the pools. */
async function startNewMonth(): Promise<void> {
  await clock.advance(2 * HOUR_MS)
  await sendFromPool()
}

async function sendFromPool(): Promise<MessageId> {
  const other = acceptRow(
    { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
    { channel: 'official_chatapp', pooled: true },
  )
  await acceptSends(database.db, NODE, clock.now(), [other], false)
  return other.id
}

/** Returns the message to the outbox, as if its attempt had not begun. */
async function waitInOutbox(): Promise<void> {
  await database.db.query({
    name: 'month_waits',
    text: `with w as (update outbox set begun = false, owner = null where message_id = $1)
           update messages set status = 'queued' where id = $1`,
    values: [toUuid(id)],
  })
}

/** A receipt that reports a rejection after the submit. */
function rejection(connectionId: ConnectionId, providerId: string): ReceiptRow {
  return {
    connectionId,
    providerId,
    status: 'failed',
    atMs: null,
    providerCode: null,
    errorCode: 'RECIPIENT_REJECTED',
    detail: null,
    eventId: ids.next('evt'),
  }
}

async function endAttempt(
  attempt: number,
  kind: 'failed' | 'sent' | 'unknown',
  providerId: string | null = null,
): Promise<void> {
  const row = settleRow(
    { accountId: account, id, connectionId: attempt === 1 ? first : connection, eventId: ids.next('evt') },
    { attempt, kind, providerId, dueAt: kind === 'unknown' ? clock.now() : null },
  )
  expect(await settleAttempts(database.db, clock.now(), [row], false)).toHaveLength(1)
}
const [first, connection] = [1, 2].map(() => createIds(createFakeClock(MAY), createRandom()).next('cnn')) as [
  ConnectionId,
  ConnectionId,
]

describe('a message of last month', () => {
  test('is not returned to a pool that has started a new month', async () => {
    await startNewMonth()
    expect(await used()).toEqual([1, 0])
    await endAttempt(1, 'failed')
    expect(await used()).toEqual([1, 0])
  })

  test('is not returned to it when a receipt rejects the message', async () => {
    await endAttempt(1, 'sent', 'refused-late')
    await startNewMonth()
    expect(await applyReceipts(database.db, clock.now(), [rejection(first, 'refused-late')])).toEqual([true])
    expect(await used()).toEqual([1, 0])
  })

  test('is not returned to it when the message is cancelled', async () => {
    await waitInOutbox()
    await startNewMonth()
    expect(await cancelMessage(database.db, clock.now(), account, id)).toBe(true)
    expect(await used()).toEqual([1, 0])
  })

  test('is not returned to it when the message fails over to another channel', async () => {
    await startNewMonth()
    await failOverToSms()
    expect(await used()).toEqual([1, 1])
  })

  test('that a failover counted in the new month is returned when it fails', async () => {
    await clock.advance(2 * HOUR_MS)
    await failOverToSms()
    expect(await used()).toEqual([0, 1])
    await endAttempt(2, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('that a failover counted in the new month is returned when a receipt rejects it', async () => {
    await clock.advance(2 * HOUR_MS)
    await failOverToSms()
    await endAttempt(2, 'sent', 'later-refused')
    const receipt = rejection(connection, 'later-refused')
    expect(await applyReceipts(database.db, clock.now(), [receipt])).toEqual([true])
    expect(await used()).toEqual([0, 0])
  })

  test('that failed over last month is not returned to the new month', async () => {
    await failOverToSms()
    expect(await used()).toEqual([3, 4])
    await clock.advance(2 * HOUR_MS)
    const other = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
      { channel: 'local_sms', pooled: true },
    )
    await acceptSends(database.db, NODE, clock.now(), [other], false)
    await endAttempt(2, 'failed')
    expect(await used()).toEqual([0, 1])
  })
})

describe('a message with a request in the last month and an accept in the new one', () => {
  /** Its id is of the last hour of April; it is counted in May. */
  let late: MessageId

  beforeEach(async () => {
    late = ids.next('msg')
    await clock.advance(2 * HOUR_MS)
    const row = acceptRow(
      { accountId: account, id: late, connectionId: connection, dueAt: clock.now() },
      { channel: 'official_chatapp', candidates: 'official_chatapp,local_sms', pooled: true },
    )
    expect(await acceptSends(database.db, NODE, clock.now(), [row], false)).toEqual([{ kind: 'accepted' }])
    expect(await used()).toEqual([1, 0])
    id = late
  })

  test('is returned to the new month when it fails', async () => {
    await endAttempt(1, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('is returned when it fails over to another channel, whose pool gets it back when it fails there', async () => {
    await failOverToSms()
    expect(await used()).toEqual([0, 1])
    await endAttempt(2, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('is not returned to the month after the new one', async () => {
    await clock.advance(JUNE - clock.now())
    const other = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
      { channel: 'official_chatapp', pooled: true },
    )
    await acceptSends(database.db, NODE, clock.now(), [other], false)
    await endAttempt(1, 'failed')
    expect(await used()).toEqual([1, 0])
  })
})

test('a message with an id of the next month is not returned to that month if this one counted it', async () => {
  const ahead = createFakeClock(MAY + 1_000)
  id = createIds(ahead, createRandom()).next('msg')
  // Accepted by a node whose clock is still in April.
  const row = acceptRow(
    { accountId: account, id, connectionId: connection, dueAt: clock.now() },
    { channel: 'official_chatapp', pooled: true },
  )
  await acceptSends(database.db, NODE, clock.now(), [row], false)
  expect(await used()).toEqual([5, 3])
  await clock.advance(2 * HOUR_MS)
  const other = acceptRow(
    { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
    { channel: 'official_chatapp', pooled: true },
  )
  await acceptSends(database.db, NODE, clock.now(), [other], false)
  await endAttempt(1, 'failed')
  expect(await used()).toEqual([1, 0])
})

test('a pool is next reset on the first of a month, whatever day its last reset was', async () => {
  await database.db.query({
    name: 'month_last_day',
    text: "update pools set resets_at = '2026-03-31T00:00:00Z' where account_id = $1 and id = 2",
    values: [toUuid(account)],
  })
  await clock.advance(2 * HOUR_MS)
  await failOverToSms()
  const { rows } = await database.db.query<{ resets_at: Date }>({
    name: 'month_reset',
    text: 'select resets_at from pools where account_id = $1',
    values: [toUuid(account)],
  })
  expect(rows.map(row => row.resets_at.getTime())).toEqual([JUNE, JUNE])
})

describe('a pool whose month was begun by a clock that was ahead', () => {
  async function sendAhead(ms: number): Promise<MessageId> {
    clock.jump(ms)
    const sent = await sendFromPool()
    clock.jump(-ms)
    await endFutureMonths(database.db, clock.now())
    return sent
  }

  async function resets(): Promise<number[]> {
    const { rows } = await database.db.query<{ resets_at: Date }>({
      name: 'month_resets',
      text: 'select resets_at from pools where account_id = $1',
      values: [toUuid(account)],
    })
    return rows.map(row => row.resets_at.getTime())
  }

  test('by a year is back in this month with what it has used, and reset at its end', async () => {
    await sendAhead(365 * 24 * HOUR_MS)
    expect([await used(), await resets()]).toEqual([
      [1, 0],
      [MAY, MAY],
    ])
    await sendFromPool()
    expect(await used()).toEqual([2, 0])
    await clock.advance(2 * HOUR_MS)
    await sendFromPool()
    expect([await used(), await resets()]).toEqual([
      [1, 0],
      [JUNE, JUNE],
    ])
  })

  test('gets back what it counted then when the message fails', async () => {
    id = await sendAhead(365 * 24 * HOUR_MS)
    await endAttempt(1, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('by hours is not reset a second time when the month begins', async () => {
    await sendAhead(2 * HOUR_MS)
    await clock.advance(2 * HOUR_MS)
    await sendFromPool()
    expect([await used(), await resets()]).toEqual([
      [2, 0],
      [JUNE, JUNE],
    ])
  })
})

test('the months of a pool are in UTC, whatever the time zone of the database', async () => {
  await database.db.transaction(async tx => {
    await tx.query({ name: 'month_zone', text: "set local time zone 'America/New_York'" })
    const { rows } = await tx.query<{ january: boolean; february: boolean }>({
      name: 'month_of_february',
      text: `select in_pool_month(first_uuid_at('2027-01-31T12:00:00Z'), null, '2027-03-01T00:00:00Z') as january,
                    in_pool_month(first_uuid_at('2027-02-01T00:00:00Z'), null, '2027-03-01T00:00:00Z') as february`,
    })
    expect(rows).toEqual([{ january: false, february: true }])
  })
})

describe('a pool that starts a new month while a message of the last month ends', () => {
  /** Another send starts the new month, in a transaction that commits once `end` waits for the pool. */
  async function endWhileMonthStarts(end: () => Promise<unknown>): Promise<void> {
    await clock.advance(2 * HOUR_MS)
    const other = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
      { channel: 'official_chatapp', pooled: true },
    )
    let ended: Promise<unknown> | undefined
    await database.db.transaction(async tx => {
      await acceptSends(tx, NODE, clock.now(), [other], false)
      ended = end()
      await lookUntil(waiting, n => n === 1, 10_000)
    })
    await ended
    expect(await used()).toEqual([1, 0])
  }

  test('gets nothing back when the message fails', () => endWhileMonthStarts(() => endAttempt(1, 'failed')))

  test('gets nothing back when a receipt rejects the message', async () => {
    await endAttempt(1, 'sent', 'refused-meanwhile')
    const receipt = rejection(first, 'refused-meanwhile')
    await endWhileMonthStarts(() => applyReceipts(database.db, clock.now(), [receipt]))
  })

  test('gets nothing back when the message is cancelled', async () => {
    await waitInOutbox()
    await endWhileMonthStarts(() => cancelMessage(database.db, clock.now(), account, id))
  })
})

test('an accept locks pools in the order in which returns do, whatever the order of its items', async () => {
  const rows = ['local_sms', 'official_chatapp'].map(channel =>
    acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: clock.now() },
      { channel: channel as 'local_sms', candidates: channel, pooled: true },
    ),
  )
  const { db } = database
  let accepting: Promise<unknown> | undefined
  await db.transaction(async tx => {
    const hold = (pool: number) =>
      tx.query({
        name: 'hold_pool',
        text: 'select 1 from pools where account_id = $1 and id = $2 for update nowait',
        values: [toUuid(account), pool],
      })
    await hold(1)
    accepting = acceptSends(db, NODE, clock.now(), rows, false)
    await lookUntil(waiting, n => n === 1, 2_000)
    // Fails if the accept holds the second pool by now, which would be a deadlock.
    await hold(2)
  })
  expect(await accepting).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }])
})

async function waiting(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'waiting_for_locks',
    text: `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows[0]!.n
}

test('a pool pays for as many messages as it includes, then the wallet pays to its last micro', async () => {
  await database.db.query({
    name: 'month_nearly_used',
    text: `with w as (update wallets set balance = 10, credited = 10 where account_id = $1)
           update pools set used = 9 where account_id = $1`,
    values: [toUuid(account)],
  })
  const fundings: string[] = []
  for (let n = 0; n < 3; n++) {
    const row = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: first, dueAt: clock.now() },
      { channel: 'official_chatapp', pooled: true },
    )
    const [verdict] = await acceptSends(database.db, NODE, clock.now(), [row], false)
    fundings.push(verdict!.kind === 'accepted' ? await fundingOf(row.id) : verdict!.kind)
  }
  expect(fundings).toEqual(['pool', 'wallet', 'insufficient'])
  expect(await used()).toEqual([10, 9])
})

async function fundingOf(message: MessageId): Promise<string> {
  const { rows } = await database.db.query<{ funding: string }>({
    name: 'month_funding',
    text: 'select funding from messages where account_id = $1 and id = $2',
    values: [toUuid(account), toUuid(message)],
  })
  return rows[0]!.funding
}

test('a message that a pool paid for moves no money of the wallet when it counts as sent after its deadline', async () => {
  await endAttempt(1, 'unknown')
  expect(await closeUnknown(database.db, clock.now(), 10)).toBe(1)
  const { rows } = await database.db.query({
    name: 'month_unknown',
    text: `select w.balance, w.held, w.captured, m.status, m.money from wallets w join messages m using (account_id)
            where w.account_id = $1`,
    values: [toUuid(account)],
  })
  expect(rows).toEqual([{ balance: 0, held: 0, captured: 0, status: 'sent', money: 'captured' }])
})

test('a pool starts its new month at the first moment of it', async () => {
  await clock.advance(MAY - clock.now())
  await failOverToSms()
  expect(await used()).toEqual([0, 1])
})
