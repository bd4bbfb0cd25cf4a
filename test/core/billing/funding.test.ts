import { afterAll, beforeAll, expect, test } from 'vitest'
import { selectFunding } from '../../../src/core/billing/funding-store.ts'
import { acceptSends } from '../../../src/core/messages/hot-store.ts'
import { toIso } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { acceptRow } from '../../support/message-rows.ts'

const RESET_MS = Date.UTC(2026, 4, 1)
const ids = createIds(createFakeClock(RESET_MS), createRandom())

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

async function addWallet(pool?: { included: number; used: number }): Promise<AccountId> {
  const account = ids.next('acc')
  await database.db.query({
    name: 'funding_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 500, 500)',
    values: [toUuid(account)],
  })
  if (!pool) return account
  await database.db.query({
    name: 'funding_pool',
    text: `insert into pools (account_id, id, channels, included, used, resets_at)
             values ($1, 1, '{local_sms}', $2, $3, $4)`,
    values: [toUuid(account), pool.included, pool.used, toIso(RESET_MS)],
  })
  return account
}

test('a wallet pays for what costs all of it, and for nothing more', async () => {
  const account = await addWallet()
  expect(await selectFunding(database.db, account, 'local_sms', 500, RESET_MS)).toBe('wallet')
  expect(await selectFunding(database.db, account, 'local_sms', 501, RESET_MS)).toBeNull()
})

test.each([
  ['a used pool pays again from the moment of its reset', { included: 3, used: 3 }, ['wallet', 'pool']],
  ['a pool with something left pays before and after', { included: 3, used: 2 }, ['pool', 'pool']],
  ['an empty pool never pays', { included: 0, used: 0 }, ['wallet', 'wallet']],
] as const)('%s', async (_, pool, expected) => {
  const account = await addWallet(pool)
  const at = (nowMs: number) => selectFunding(database.db, account, 'local_sms', 1, nowMs)
  expect([await at(RESET_MS - 1), await at(RESET_MS)]).toEqual(expected)
})

test('a test message beside a live one takes nothing of the pool, and nothing of the wallet', async () => {
  const account = await addWallet({ included: 1, used: 0 })
  const nowMs = RESET_MS - 1
  const rows = [false, true, false, true].map(live => {
    const key = { accountId: account, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: nowMs }
    return acceptRow(key, { live, pooled: true })
  })
  await acceptSends(database.db, 1, nowMs, rows, false)
  const paid = await database.db.query({
    name: 'funding_paid',
    text: `select p.used, w.balance::integer as balance, w.held::integer as held
             from wallets w join pools p using (account_id) where w.account_id = $1`,
    values: [toUuid(account)],
  })
  expect(paid.rows).toEqual([{ used: 1, balance: 490, held: 10 }])
})

test('of several pools for a channel the first one with something left pays', async () => {
  const account = await addWallet({ included: 2, used: 1 })
  await database.db.query({
    name: 'funding_second_pool',
    text: `insert into pools (account_id, id, channels, included, used, resets_at)
             values ($1, 2, '{local_sms,int_sms}', 5, 0, $2)`,
    values: [toUuid(account), toIso(RESET_MS)],
  })
  const nowMs = RESET_MS - 1
  const used: number[][] = []
  for (const channel of ['local_sms', 'local_sms', 'int_sms'] as const) {
    const key = { accountId: account, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: nowMs }
    await acceptSends(database.db, 1, nowMs, [acceptRow(key, { channel, pooled: true })], false)
    const { rows } = await database.db.query<{ used: number }>({
      name: 'funding_used',
      text: 'select used from pools where account_id = $1 order by id',
      values: [toUuid(account)],
    })
    used.push(rows.map(row => row.used))
  }
  // The second one is left for what only it covers.
  expect(used).toEqual([
    [2, 0],
    [2, 1],
    [2, 2],
  ])
})
