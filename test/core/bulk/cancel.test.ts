import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBulkJobs } from '../../../src/core/bulk/jobs.ts'
import type { Database, Query } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** More than there are connections. */
const MANY = 40

test('many cancels of one job at once wait for its lane on one connection, and one of them cancels it', async () => {
  const clock = createFakeClock(Date.UTC(2026, 3, 1))
  const ids = createIds(clock, createRandom())
  const account = { id: ids.next('acc') }
  const id = ids.next('job')
  await database.db.query({
    name: 't_job',
    text: `insert into bulk_jobs (account_id, id, live, key_id, status, total) values ($1, $2, true, $1, 'running', 3)`,
    values: [toUuid(account.id), toUuid(id)],
  })
  const allRead = Promise.withResolvers<void>()
  let reads = 0
  const query = <Row extends object>(asked: Query) =>
    database.db.query<Row>(asked).finally(() => {
      if (++reads === MANY) allRead.resolve()
    })
  let transactions = 0
  const transaction: Database['transaction'] = work => {
    transactions++
    return database.db.transaction(work)
  }
  const jobs = createBulkJobs({ db: { ...database.db, query, transaction }, clock, withdraw: async () => {} })
  const caller = { account, mode: 'live', keyPrefix: 'ph_live_x' } as Parameters<typeof jobs.cancel>[0]

  // As whoever hands over a row of the account.
  const lane = await database.db.dedicated()
  await lane.query('begin')
  await lane.query('select pg_advisory_xact_lock_shared(bulk_lock($1))', [toUuid(account.id)])
  const cancels = Promise.allSettled(Array.from({ length: MANY }, () => jobs.cancel(caller, id)))
  // Each reads the job first: for that there are connections left.
  await allRead.promise
  expect(await jobs.read(caller, id)).toMatchObject({ status: 'running' })
  expect(transactions).toBe(1)
  await lane.query('commit')
  await lane.end()

  const results = await cancels
  const done = results.filter(({ status }) => status === 'fulfilled')
  expect(done).toMatchObject([{ value: { id, status: 'cancelled' } }])
  for (const each of results.filter(({ status }) => status === 'rejected')) {
    expect(each).toMatchObject({ reason: { code: 'JOB_STATE_CONFLICT' } })
  }
  expect(transactions).toBe(1)
})
