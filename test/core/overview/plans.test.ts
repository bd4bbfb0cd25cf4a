import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMessageScanEnd, listMessages } from '../../../src/core/messages/list-store.ts'
import { countWaiting } from '../../../src/core/overview/total-store.ts'
import { createDatabase, type Database, type Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { createTestDatabase, isServerBefore, type TestDatabase } from '../../support/database.ts'

/** The number of waiting messages of the account. */
const MANY = 20_000
const FEW = 7
const MOST = 100
const LOOKED_AT = 500

const ids = createIds(systemClock, createRandom())
const accountId = ids.next('acc')
let database: TestDatabase
/** A single database session, which keeps the plans that it made on empty tables. */
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 60_000 })
  await disableAutovacuum(db, ['messages', 'outbox'])
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

let statements = 0
const run = (text: string) => db.query({ name: `run_${++statements}`, text })

async function addWaiting(account: AccountId, count: number, begun: boolean): Promise<void> {
  await run(`with made as (
      insert into messages (account_id, id, live, status, channel, message_type, recipient, provider,
          connection_id, sender_source, candidates, amount, funding, money)
        select '${toUuid(account)}', uuid_at(now()), true, '${begun ? 'unknown' : 'scheduled'}', 'local_sms', 'utility',
               '+4915112345678', 'sandbox', '${toUuid(account)}', 'platform', 'local_sms', 1, 'wallet', 'held'
          from generate_series(1, ${count})
      returning account_id, id, connection_id
    )
    insert into outbox (account_id, message_id, connection_id, due_at, begun)
      select account_id, id, connection_id, now() + interval '1 day', ${begun} from made`)
}

/** The number of rows of messages and outbox that the work reads, by the session’s counters. */
function rowsRead(work: (tx: Db) => Promise<unknown>): Promise<number> {
  return db.transaction(async tx => {
    const before = await countRows(tx)
    await work(tx)
    return (await countRows(tx)) - before
  })
}

async function countRows(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'count_rows',
    text: `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as n from pg_stat_xact_user_tables
            where relname ~ '^(messages|outbox)'`,
  })
  return rows[0]!.n
}

const count = (tx: Db, live: boolean) => countWaiting(tx, accountId, live, MOST, LOOKED_AT)

async function expectFewRead(): Promise<void> {
  if (isServerBefore(18)) return
  // Often enough that the server uses a generic plan.
  for (let n = 0; n < 8; n++) {
    expect(await rowsRead(tx => count(tx, true))).toBeLessThan(LOOKED_AT * 5)
    expect(await rowsRead(tx => count(tx, false))).toBeLessThan(LOOKED_AT * 5)
  }
}

test('waiting and unknown messages are counted separately, reading a bounded number of rows', async () => {
  await addWaiting(accountId, FEW, true)
  await expectFewRead()
  await addWaiting(accountId, MANY, false)
  const unknown = { unknown: FEW, unknownMore: false }
  expect(await count(db, true)).toEqual({ waiting: MOST, waitingMore: true, ...unknown })
  // None among the rows that were read, which were not all.
  const none = { waiting: 0, waitingMore: true, unknown: 0, unknownMore: false }
  expect(await count(db, false)).toEqual(none)
  // A limit equal to their number finds all of them.
  expect(await countWaiting(db, accountId, true, FEW, LOOKED_AT)).toMatchObject(unknown)
  expect(await countWaiting(db, accountId, true, FEW - 1, LOOKED_AT)).toMatchObject({
    unknown: FEW - 1,
    unknownMore: true,
  })
  expect(await countWaiting(db, accountId, false, MOST, MANY)).toMatchObject({
    waiting: 0,
    waitingMore: false,
  })
  await expectFewRead()
  await run('discard plans')
  await expectFewRead()
  await run('analyze')
  await expectFewRead()
}, 60_000)

test('a search for rare messages among the waiting ones reads a bounded number of rows', async () => {
  const filter = { status: 'scheduled', to: '+4915500000000' } as const
  const look = async (tx: Db) => {
    const stoppedAt = await findMessageScanEnd(tx, accountId, filter, null)
    expect(stoppedAt).not.toBeNull()
    expect((await listMessages(tx, accountId, filter, { before: null, stoppedAt, limit: 50 })).rows).toEqual(
      [],
    )
  }
  expect(await rowsRead(look)).toBeLessThan(20_000)
})
