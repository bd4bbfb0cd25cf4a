import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { type BlockId, findBlockScanEnd, listBlocks } from '../../../src/core/fraud/block-store.ts'
import { type BlocksDeps, createBlocks } from '../../../src/core/fraud/blocks.ts'
import { tallyKey } from '../../../src/core/fraud/tallies.ts'
import { emptyDelta } from '../../../src/core/fraud/tally.ts'
import { createTallyStore, sweepTallies } from '../../../src/core/fraud/tally-store.ts'
import { countDue, countNewest } from '../../../src/core/fraud/total-store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { type AccountId, fromUuid } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createTestDatabase, isServerBefore, type TestDatabase } from '../../support/database.ts'
import { findLate } from '../../support/turns.ts'

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'
const ACCOUNT: AccountId = fromUuid('acc', UUID)
const NOW_MS = Date.UTC(2026, 4, 4)
const ROWS = 10_000
const BATCH = 200

/** All rows are of one account, so the account alone is not selective. */
const FILL_VERIFICATIONS = `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, message_id, channel,
    started_at, expires_at, resend_at, code_hash, messages, started_with)
  select '${UUID}', i.id, true, 10, '+1', n::text, i.id, 'local_sms', '2026-05-01', '2026-05-01', '2026-05-01',
         'a', array[i.id], 1
    from generate_series(1, ${ROWS}) n, lateral (select uuid_at('2026-05-04') as id where n > 0) i`

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  for (const text of [
    FILL_VERIFICATIONS,
    `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider, connection_id,
        sender_source, candidates, amount, funding, money)
      select account_id, id, true, 'sent', 'local_sms', 'otp', '+1', 'x', id, 'x', 'x', 1, 'wallet', 'captured'
        from verifications`,
    `insert into verification_looks (id, accounts, ids, started_at, look_at)
      select ids[1], array_fill('${UUID}'::uuid, array[${BATCH}]), ids, '2026-05-01', '2026-05-01' from (
        select array_agg(id) as ids from (select id, row_number() over () / ${BATCH} as row from verifications) v
         group by row having count(*) = ${BATCH}) r`,
    `insert into fraud_tallies (account_id, key, at, fresh, settled, sends, verified, holds)
      select '${UUID}', 'r4:+' || n, '2026-05-01', 1, 0, 0, 0, 0
        from generate_series(1, ${ROWS}) n`,
  ]) {
    await database.db.query({ name: text.slice(0, 40), text })
  }
})
afterAll(() => database.drop())

/** The number of rows that the work read, by the session’s counters. */
function rowsRead(work: (tx: Db) => Promise<unknown>): Promise<number> {
  return database.db.transaction(async tx => {
    const before = await count(tx)
    await work(tx)
    return (await count(tx)) - before
  })
}

async function count(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ read: number }>({
    name: 'rows_read',
    text: `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as read from pg_stat_xact_user_tables`,
  })
  return rows[0]!.read
}

const deltas = Array.from({ length: BATCH }, (_, n) => ({
  ...tallyKey(ACCOUNT, `r4:+${n + 1}`, 2),
  delta: { ...emptyDelta(), fresh: 1 },
}))
const turns = Array.from({ length: BATCH }, (_, n) => ({
  ...{ accountId: ACCOUNT, person: `${n + 1}`, atMs: NOW_MS, sends: 5, windowMinutes: 10, strict: true },
}))
const firstOnes = turns.map((turn, n) => ({ ...turn, person: `${ROWS + n + 1}` }))
const NEWEST = "counting an account's newest verifications"
/** Each work on a batch, and how many rows it may read per item, in all tables together. */
const WORK: [name: string, rowsPerItem: number, work: (tx: Db) => Promise<unknown>][] = [
  ['counting a page of due verifications', 5, tx => countDue(tx, NOW_MS, 1)],
  [NEWEST, 5, tx => countNewest(tx, ACCOUNT, NOW_MS, 0, BATCH)],
  [
    'storing the tallies of a node',
    3,
    tx => createTallyStore({ db: tx, node: () => 1 }).fold({ id: UUID, changes: deltas }, NOW_MS),
  ],
  [
    'reading the changes of other nodes',
    2,
    tx => createTallyStore({ db: tx, node: () => 2 }).changes([ACCOUNT], null),
  ],
  ['finding codes over the limit of their recipients', 3, tx => findLate(tx, turns)],
]

// First on tables without statistics, as in a new database.
for (const state of ['never analysed', 'analysed']) {
  const isKnown = state === 'never analysed' && isServerBefore(18)
  test.each(isKnown ? WORK.filter(([name]) => name !== NEWEST) : WORK)(
    `on tables ${state} a batch reads few rows per item: %s, at most %i`,
    async (_, rowsPerItem, work) => {
      if (state === 'analysed') await database.db.query({ name: 'analyse', text: 'analyze' })
      const read = await rowsRead(work)
      expect(read).toBeGreaterThanOrEqual(BATCH)
      expect(read).toBeLessThanOrEqual(BATCH * rowsPerItem)
    },
  )

  test(`on tables ${state} a batch of codes to recipients without a code reads no verification`, async () => {
    expect(await rowsRead(tx => findLate(tx, firstOnes))).toBe(0)
  })
}

test('also with a plan that was made while there was none, codes to recipients without a code read no verification', async () => {
  const other = await createTestDatabase()
  try {
    const read = await other.db.transaction(async tx => {
      await findLate(tx, firstOnes)
      await tx.query({ name: 'fill_verifications', text: FILL_VERIFICATIONS })
      const before = await count(tx)
      await findLate(tx, firstOnes)
      return (await count(tx)) - before
    })
    expect(read).toBe(0)
  } finally {
    await other.drop()
  }
})

test('a sweep of tallies reads each at most three times, and deletes the old ones', async () => {
  const old = `update fraud_tallies set at = '2026-04-01' where right(key, 1) <> '7'`
  await database.db.query({ name: 'make_old', text: old })
  const sweep = (tx: Db) => sweepTallies(tx, Date.UTC(2026, 3, 20), 10)
  // Each row is found, locked, and found again by its key to be deleted.
  expect(await rowsRead(sweep)).toBeLessThan(ROWS * 3)
  const left = `select count(*)::integer as n, bool_and(right(key, 1) = '7') as young from fraud_tallies`
  const { rows } = await database.db.query({ name: 'left', text: left })
  expect(rows).toEqual([{ n: ROWS / 10, young: true }])
})

const testFrom17 = test.skipIf(isServerBefore(17))

testFrom17('a page of blocks reads a bounded number of rows, however few match the filter', async () => {
  const fill = `insert into verification_blocks (account_id, id, action, rule, reason, recipient, channel, retry_at)
    select '${UUID}', uuid_at('2026-05-04'), 'blocked', 'recipient', 'x', '+1' || n, 'local_sms', now()
      from generate_series(1, 50000) n`
  await database.db.query({ name: 'fill_blocks', text: fill })
  const filter = { recipient: '+49' }
  let stoppedAt: BlockId | null = null
  const look = async (tx: Db) => {
    stoppedAt = await findBlockScanEnd(tx, ACCOUNT, filter, null)
    expect(await listBlocks(tx, ACCOUNT, filter, { before: null, stoppedAt, limit: 51 })).toEqual([])
  }
  expect(await rowsRead(look)).toBeLessThan(45_000)
  expect(stoppedAt).not.toBeNull()
  await database.db.query({ name: 'count_blocks', text: 'analyze verification_blocks' })
  expect(await rowsRead(look)).toBeLessThan(45_000)

  const clock = { monotonic: () => 0 }
  const phones = createPhones({ cacheSize: 10 })
  const blocks = createBlocks({ db: database.db, clock, phones } as unknown as BlocksDeps)
  const caller = { account: { id: ACCOUNT } } as Caller
  const page = { to: '+150000', limit: 1 } as const
  const { data } = await blocks.list(caller, page)
  expect(data.map(({ to }) => to)).toEqual(['+150000'])
})
