import { afterAll, beforeAll, expect, test } from 'vitest'
import { findSuppressed } from '../../../src/core/consent/store.ts'
import { createDatabase, type Database, type Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

/** Enough that a plan by statistics would have changed its mind long before. */
const MANY = 200_000

const ids = createIds(systemClock, createRandom())
const accountId = ids.next('acc')
const connectionId = ids.next('cnn')
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = createDatabase({ connectionString: database.url, poolSize: 1, queryTimeoutMs: 120_000 })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** How often the session has read suppressions from end to end. */
async function scans(tx: Db): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 't_scans',
    text: `select coalesce(sum(seq_scan), 0)::integer as n from pg_stat_xact_user_tables
            where relname in ('suppressions', 'sms_senders')`,
  })
  return rows[0]!.n
}

const asked = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    accountId,
    key: `+1202555${from + at}`,
    connectionId,
    sender: at % 2 ? 'Acme' : null,
  }))

async function ask(from: number): Promise<number> {
  return db.transaction(async tx => {
    const before = await scans(tx)
    // Often enough that the server would plan for no values in particular.
    for (let n = 0; n < 8; n++) await findSuppressed(tx, asked(from + n * 10, 100))
    return (await scans(tx)) - before
  })
}

test('whom a send must not go to is found by the index, in an empty list and in a long one that nobody analysed', async () => {
  expect(await ask(1000)).toBe(0)
  await db.query({ name: 't_off', text: 'alter table suppressions set (autovacuum_enabled = off)' })
  await db.query({
    name: 't_fill',
    text: `insert into suppressions (account_id, id, recipient, recipient_key, channel, source)
           select $1, uuid_at(now()), '+1202555' || n, '+1202555' || n, case when n % 2 = 0 then '*' else 'int_sms' end, 'api'
             from generate_series(1000, 1000 + ${MANY}) n`,
    values: [toUuid(accountId)],
  })
  expect(await ask(1000)).toBe(0)
  expect(await findSuppressed(db, asked(1000, 3))).toEqual([[null], ['int_sms'], [null]])
  expect(await findSuppressed(db, [{ ...asked(1000, 1)[0]!, accountId: ids.next('acc') }])).toEqual([[]])
}, 60_000)
