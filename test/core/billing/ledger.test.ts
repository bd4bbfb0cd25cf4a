import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LedgerEntry, LedgerQuery } from '../../../src/contract/wallet.ts'
import { createLedger } from '../../../src/core/billing/ledger.ts'
import type { Db, Query } from '../../../src/infra/db.ts'
import { toIso } from '../../../src/lib/clock.ts'
import { type AccountId, type MessageId, toUuid, withPrefix } from '../../../src/lib/ids.ts'
import { fromMicros } from '../../../src/lib/money.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { ledgerTotals } from '../../support/ledger-totals.ts'
import { BASIC_ACCOUNT, openRooms, type Rooms } from '../../support/rooms.ts'

const clock = createFakeClock(Date.UTC(2026, 6, 1))
let database: TestDatabase
let rooms: Rooms

beforeAll(async () => {
  database = await createTestDatabase()
  rooms = await openRooms(database.db, { clock })
})
afterAll(async () => {
  await rooms.stop()
  await database.drop()
})

/** `refunded`: released after it was captured. */
type Money = 'held' | 'captured' | 'released' | 'refunded'

/** Stores a message as the hot path leaves it, and changes the wallet accordingly. */
async function addMessage(
  accountId: AccountId,
  {
    amount,
    money,
    funding = 'wallet',
  }: { amount: number; money: Money; funding?: 'wallet' | 'pool' | 'none' },
): Promise<MessageId> {
  const id = rooms.ids.next('msg')
  await database.db.transaction(async tx => {
    await tx.query({
      name: 'test_message',
      text: `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider,
          connection_id, sender_source, candidates, amount, funding, money, money_at, sent_at)
        values ($1, $2, $3, 'sent', 'int_sms', 'utility', '+447700900123', 'smpp', gen_random_uuid(), 'platform',
          'int_sms', $4, $5, $6, case when $6 = 'held' then null else to_timestamp($7 / 1000.0) end,
          case when $8 then to_timestamp($7 / 1000.0) - interval '1 second' end)`,
      values: [
        toUuid(accountId),
        toUuid(id),
        funding !== 'none',
        amount,
        funding,
        money === 'refunded' ? 'released' : money,
        clock.now() + 1_500,
        money === 'refunded' || money === 'captured',
      ],
    })
    if (funding !== 'wallet') return
    await tx.query({
      name: `test_wallet_${money}`,
      text:
        money === 'released' || money === 'refunded'
          ? 'select $1::uuid, $2::bigint'
          : `update wallets set balance = balance - $2, ${money} = ${money} + $2 where account_id = $1`,
      values: [toUuid(accountId), amount],
    })
  })
  return id
}

async function readAll(
  account: { id: AccountId; currency: string },
  limit: number,
  filter: Omit<LedgerQuery, 'limit' | 'cursor'> = {},
): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = []
  let cursor: string | null = null
  do {
    const page = await rooms.ledger.list(account, {
      ...filter,
      limit,
      ...(cursor === null ? {} : { cursor }),
    })
    expect(page.data.length).toBeLessThanOrEqual(limit)
    entries.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return entries
}

async function newAccount(balance: number): Promise<{ id: AccountId; currency: string }> {
  const { account } = await rooms.accountAdmin.create({ ...BASIC_ACCOUNT, balance })
  return { id: account.id as AccountId, currency: account.currency }
}

describe('the ledger', () => {
  test('lists the capture of a message, then its hold, under the id of the message', async () => {
    const account = await newAccount(10)
    await clock.advance(1_000)
    const messageId = await addMessage(account.id, { amount: 12_500, money: 'captured' })
    const [capture, hold, credit, ...none] = await readAll(account, 50)
    expect(none).toEqual([])
    expect(capture).toEqual({
      id: withPrefix('usg', messageId),
      type: 'capture',
      amount: 0.0125,
      currency: 'USD',
      messageId,
      note: null,
      createdAt: '2026-07-01T00:00:02.500Z',
    })
    expect(hold).toEqual({ ...capture, type: 'hold', createdAt: '2026-07-01T00:00:01.000Z' })
    expect(credit).toMatchObject({ type: 'credit', amount: 10, note: 'Opening balance', messageId: null })
    expect(credit!.id).toMatch(/^crd_/)
  })

  test('is filtered by source and by time, page by page', async () => {
    const account = await newAccount(10)
    await clock.advance(1_000)
    await addMessage(account.id, { amount: 1_000, money: 'captured' })
    await clock.advance(1_000)
    const middle = new Date(clock.now()).toISOString()
    await clock.advance(1_000)
    await rooms.wallets.credit(account.id, { amount: 5, note: 'Top up' })
    await addMessage(account.id, { amount: 2_000, money: 'captured' })

    const listed = async (filter: Parameters<typeof readAll>[2]) =>
      (await readAll(account, 1, filter)).map(({ type, amount }) => `${type} ${amount}`)
    expect(await listed({ source: 'credits' })).toEqual(['credit 5', 'credit 10'])
    expect(await listed({ source: 'messages' })).toEqual([
      'capture 0.002',
      'hold 0.002',
      'capture 0.001',
      'hold 0.001',
    ])
    expect(await listed({ createdAfter: middle })).toEqual(['capture 0.002', 'hold 0.002', 'credit 5'])
    expect(await listed({ createdBefore: middle })).toEqual(['capture 0.001', 'hold 0.001', 'credit 10'])
    expect(await listed({ createdBefore: middle, source: 'credits' })).toEqual(['credit 10'])
    // Both bounds are exclusive.
    const [last] = await readAll(account, 1, { source: 'credits' })
    const toppedUp = last!.createdAt
    expect(await listed({ createdAfter: toppedUp, source: 'credits' })).toEqual([])
    expect(await listed({ createdBefore: toppedUp, source: 'credits' })).toEqual(['credit 10'])
  })

  test('lists hold, capture and refund of a message that was rejected after its capture', async () => {
    const account = await newAccount(10)
    await addMessage(account.id, { amount: 5_000, money: 'refunded' })
    const movements = (await readAll(account, 50)).map(({ type, createdAt }) => [type, createdAt])
    expect(movements).toEqual([
      ['refund', toIso(clock.now() + 1_500)],
      ['capture', toIso(clock.now() + 500)],
      ['hold', toIso(clock.now())],
      ['credit', expect.any(String)],
    ])
  })

  test('repeats no entry of a message whose money moves between two pages', async () => {
    const account = await newAccount(10)
    const id = await addMessage(account.id, { amount: 5_000, money: 'captured' })
    const first = await rooms.ledger.list(account, { limit: 1 })
    expect(first.data).toMatchObject([{ type: 'capture' }])
    await database.db.query({
      name: 'test_refund',
      text: `update messages set money = 'released' where account_id = $1 and id = $2`,
      values: [toUuid(account.id), toUuid(id)],
    })
    const rest = await rooms.ledger.list(account, { limit: 5, cursor: first.nextCursor! })
    expect(rest.data.map(({ type }) => type)).toEqual(['hold', 'credit'])
  })

  test('lists what the wallet held for a message before its failover to a channel that a pool pays for', async () => {
    const account = await newAccount(10)
    const startedMs = clock.now()
    const id = await addMessage(account.id, { amount: 700, money: 'captured', funding: 'pool' })
    const until = [1_000, 2_000].map(afterMs => toIso(startedMs + afterMs))
    const holds = [
      { amount: 5_000, funding: 'wallet', until: until[0] },
      { amount: 6_000, funding: 'wallet', until: until[1] },
    ]
    await database.db.query({
      name: 'test_past_holds',
      text: 'update messages set past_holds = $3 where account_id = $1 and id = $2',
      values: [toUuid(account.id), toUuid(id), JSON.stringify(holds)],
    })
    const movements = await readAll(account, 50, { source: 'messages' })
    expect(movements.map(({ type, amount, createdAt }) => [type, amount, createdAt])).toEqual([
      ['release', 0.006, until[1]],
      ['hold', 0.006, until[0]],
      ['release', 0.005, until[0]],
      ['hold', 0.005, toIso(startedMs)],
    ])
  })

  test('goes on behind messages that failed over from one pool to another', async () => {
    const account = await newAccount(10)
    for (let at = 0; at < 4; at++) {
      await clock.advance(1_000)
      const id = await addMessage(account.id, { amount: 700, money: 'captured', funding: 'pool' })
      await database.db.query({
        name: 'test_past_pool',
        text: 'update messages set past_holds = $3 where account_id = $1 and id = $2',
        values: [
          toUuid(account.id),
          toUuid(id),
          JSON.stringify([{ amount: 500, funding: 'pool', until: toIso(clock.now()) }]),
        ],
      })
    }
    for (const limit of [1, 2, 50]) {
      expect(await readAll(account, limit), `${limit} per page`).toMatchObject([
        { type: 'credit', amount: 10 },
      ])
    }
  })

  test('omits messages that the wallet did not pay for', async () => {
    const account = await newAccount(0)
    await addMessage(account.id, { amount: 5, money: 'captured', funding: 'pool' })
    await addMessage(account.id, { amount: 5, money: 'held', funding: 'none' })
    expect(await readAll(account, 50)).toEqual([])
  })

  test('adds up to the wallet, with each entry once and the newest first, in pages of any size', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('credit' as const), amount: fc.integer({ min: 1, max: 9_000_000 }) }),
      fc.record({
        kind: fc.constant('message' as const),
        amount: fc.integer({ min: 0, max: 5_000_000 }),
        money: fc.constantFrom<Money>('held', 'captured', 'released', 'refunded'),
        funding: fc.constantFrom('wallet' as const, 'wallet' as const, 'pool' as const),
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 7 }),
        async (steps, limit) => {
          const account = await newAccount(1_000)
          for (const each of steps) {
            await clock.advance(1)
            if (each.kind === 'credit')
              await rooms.wallets.credit(account.id, { amount: fromMicros(each.amount) })
            else await addMessage(account.id, each)
          }
          const entries = await readAll(account, limit)
          const wallet = await rooms.wallets.read(account.id)
          const totals = ledgerTotals(entries)
          expect({
            balance: fromMicros(totals.balance),
            held: fromMicros(totals.held),
            captured: fromMicros(totals.captured),
            credited: fromMicros(totals.credited),
            currency: 'USD',
            lowBalance: 0,
          }).toEqual(wallet)
          expect(entries).toEqual(await readAll(account, 500))
          const ids = entries.map(entry => entry.id.slice(4))
          expect(ids).toEqual(ids.toSorted().reverse())
        },
      ),
      { numRuns: 25 },
    )
  })

  test('skips thousands of messages that moved no money, a bounded number per page', async () => {
    const account = await newAccount(5)
    await database.db.query({
      name: 'test_many',
      text: `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider,
          connection_id, sender_source, candidates, amount, funding, money)
        select $1, overlay(first_uuid_at('2026-07-02T00:00:00Z'::timestamptz + n * interval '1 ms')::text
                           placing '7000-8000' from 15)::uuid,
               true, 'sent', 'int_sms', 'utility', '+447700900123', 'smpp', gen_random_uuid(), 'platform',
               'int_sms', 1, 'pool', 'captured' from generate_series(1, 12000) n`,
      values: [toUuid(account.id)],
    })
    const first = await rooms.ledger.list(account, { limit: 50 })
    expect(first.data).toEqual([])
    expect(first.nextCursor).not.toBeNull()
    expect(await readAll(account, 50)).toMatchObject([{ type: 'credit', amount: 5 }])
  })

  test('goes on with the message behind those that one page looks at', async () => {
    const account = await newAccount(5)
    const paid: string[] = []
    for (const _ of [1, 2]) {
      await clock.advance(1)
      paid.unshift(await addMessage(account.id, { amount: 10_000, money: 'held' }))
    }
    await clock.advance(1)
    await database.db.query({
      name: 'test_page_of_pool',
      text: `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider,
          connection_id, sender_source, candidates, amount, funding, money)
        select $1, overlay(first_uuid_at(to_timestamp($2 / 1000.0) + n * interval '1 ms')::text
                           placing '7000-8000' from 15)::uuid,
               true, 'sent', 'int_sms', 'utility', '+447700900123', 'smpp', gen_random_uuid(), 'platform',
               'int_sms', 1, 'pool', 'captured' from generate_series(1, 5000) n`,
      values: [toUuid(account.id), clock.now()],
    })
    const first = await rooms.ledger.list(account, { limit: 50 })
    expect(first.data).toEqual([])
    const [newer, older] = paid
    expect(await readAll(account, 50)).toMatchObject([
      { type: 'hold', messageId: newer },
      { type: 'hold', messageId: older },
      { type: 'credit' },
    ])
  })

  test.each(['x', 'bm8gY3Vyc29y', '%%%'])('refuses the cursor %s', async cursor => {
    const account = await newAccount(0)
    await expect(rooms.ledger.list(account, { limit: 5, cursor })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'cursor' }],
    })
  })

  test('is read backwards by the primary keys, without a sequential scan', async () => {
    const account = await newAccount(0)
    const asked: Query[] = []
    const query = ((request: Query) => {
      asked.push(request)
      return database.db.query(request)
    }) as Db['query']
    await createLedger({ db: { query } }).list(account, { limit: 50 })
    expect(asked.map(({ name }) => name)).toEqual(['ledger_usages', 'ledger_horizon'])
    for (const { name, text, values } of asked) {
      const { rows } = await database.db.query<{ 'QUERY PLAN': string }>({
        name: `explain_${name}`,
        text: `explain ${text}`,
        values: values!,
      })
      const plan = rows.map(row => row['QUERY PLAN']).join('\n')
      expect(plan).toMatch(/Index (Only )?Scan Backward using messages_\d{4}_\d{2}_pkey/)
      expect(plan).not.toMatch(/Seq Scan/)
    }
  })
})
