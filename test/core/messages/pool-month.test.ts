import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failOver } from '../../../src/core/messages/failover-store.ts'
import {
  acceptSends,
  applyReceipts,
  beginAttempts,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import { cancelMessage } from '../../../src/core/messages/withdraw-store.ts'
import { type AccountId, type ConnectionId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

/** What a pool gets back when its month turns between a message's steps: what this month counted, and no more. */

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

/** One message that was accepted an hour before the month turned, out of a pool of its own channel. */
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

/** Over to SMS, where its second attempt begins. */
async function moves(): Promise<void> {
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

async function ends(
  attempt: number,
  kind: 'failed' | 'sent',
  providerId: string | null = null,
): Promise<void> {
  const row = settleRow(
    { accountId: account, id, connectionId: attempt === 1 ? first : connection, eventId: ids.next('evt') },
    { attempt, kind, providerId },
  )
  expect(await settleAttempts(database.db, clock.now(), [row], false)).toHaveLength(1)
}
const [first, connection] = [1, 2].map(() => createIds(createFakeClock(MAY), createRandom()).next('cnn')) as [
  ConnectionId,
  ConnectionId,
]

describe('a message of last month', () => {
  test('is not given back to a pool that has begun anew', async () => {
    await clock.advance(2 * HOUR_MS)
    // Somebody's send begins the pools' new month.
    const other = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
      { channel: 'official_chatapp', pooled: true },
    )
    await acceptSends(database.db, NODE, clock.now(), [other], false)
    expect(await used()).toEqual([1, 0])
    await ends(1, 'failed')
    expect(await used()).toEqual([1, 0])
  })

  test('that a failover counts in the new month is given back when it fails there too', async () => {
    await clock.advance(2 * HOUR_MS)
    await moves()
    expect(await used()).toEqual([0, 1])
    await ends(2, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('likewise when the provider refuses it after all', async () => {
    await clock.advance(2 * HOUR_MS)
    await moves()
    await ends(2, 'sent', 'later-refused')
    const receipt = {
      connectionId: connection,
      providerId: 'later-refused',
      status: 'failed' as const,
      atMs: null,
      providerCode: null,
      errorCode: 'RECIPIENT_REJECTED' as const,
      detail: null,
      eventId: ids.next('evt'),
    }
    expect(await applyReceipts(database.db, clock.now(), [receipt])).toEqual([true])
    expect(await used()).toEqual([0, 0])
  })

  test('is not given back twice: not to the month after that of its failover', async () => {
    await moves()
    expect(await used()).toEqual([3, 4])
    await clock.advance(2 * HOUR_MS)
    const other = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
      { channel: 'local_sms', pooled: true },
    )
    await acceptSends(database.db, NODE, clock.now(), [other], false)
    await ends(2, 'failed')
    expect(await used()).toEqual([0, 1])
  })
})

describe('a message whose month turned between its request and its accept', () => {
  /** Of the last hour of April, and counted in May. */
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

  test('is given back to the month that counted it when it fails', async () => {
    await ends(1, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('likewise when it goes over to another channel', async () => {
    await moves()
    expect(await used()).toEqual([0, 1])
    await ends(2, 'failed')
    expect(await used()).toEqual([0, 0])
  })

  test('is not given back to the month after that', async () => {
    await clock.advance(JUNE - clock.now())
    const other = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: connection, dueAt: clock.now() },
      { channel: 'official_chatapp', pooled: true },
    )
    await acceptSends(database.db, NODE, clock.now(), [other], false)
    await ends(1, 'failed')
    expect(await used()).toEqual([1, 0])
  })
})

test('a message of a node whose clock is ahead is not given back to the month after the one that counted it', async () => {
  const ahead = createFakeClock(MAY + 1_000)
  id = createIds(ahead, createRandom()).next('msg')
  // Accepted by a node that has April still.
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
  await ends(1, 'failed')
  expect(await used()).toEqual([1, 0])
})

test('a month is that of the calendar, wherever the one before it ended', async () => {
  await database.db.query({
    name: 'month_last_day',
    text: "update pools set resets_at = '2026-03-31T00:00:00Z' where account_id = $1 and id = 2",
    values: [toUuid(account)],
  })
  await clock.advance(2 * HOUR_MS)
  await moves()
  const { rows } = await database.db.query<{ resets_at: Date }>({
    name: 'month_reset',
    text: 'select resets_at from pools where account_id = $1',
    values: [toUuid(account)],
  })
  expect(rows.map(row => row.resets_at.getTime())).toEqual([JUNE, JUNE])
})

test('a month is that of UTC, whatever the time zone of the database', async () => {
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

describe('a pool that begins anew at the very moment in which one of its last month ends', () => {
  /** Somebody's send has begun the new month, and is written down once the end waits for its pool. */
  async function meanwhile(end: () => Promise<unknown>): Promise<void> {
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

  test('is given nothing back where it fails', () => meanwhile(() => ends(1, 'failed')))

  test('is given nothing back where the provider refuses it after all', async () => {
    await ends(1, 'sent', 'refused-meanwhile')
    const receipt = {
      connectionId: first,
      providerId: 'refused-meanwhile',
      status: 'failed' as const,
      atMs: null,
      providerCode: null,
      errorCode: 'RECIPIENT_REJECTED' as const,
      detail: null,
      eventId: ids.next('evt'),
    }
    await meanwhile(() => applyReceipts(database.db, clock.now(), [receipt]))
  })

  test('is given nothing back where it is cancelled', async () => {
    await database.db.query({
      name: 'month_waits',
      text: `with w as (update outbox set begun = false, owner = null where message_id = $1)
             update messages set status = 'queued' where id = $1`,
      values: [toUuid(id)],
    })
    await meanwhile(() => cancelMessage(database.db, clock.now(), account, id))
  })
})

test('takes pools in the order in which they are given back, whichever of them its items need first', async () => {
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
    // Had it the second one by now, each would wait for the other.
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
