import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RowStatus } from '../../../src/contract/bulk.ts'
import { listRows, readPendingRows, readRows } from '../../../src/core/bulk/row-store.ts'
import { foldMoves, listOpenMessages, selectJob } from '../../../src/core/bulk/store.ts'
import { viewRow } from '../../../src/core/bulk/view.ts'
import type { Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds, fromUuid, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, isServerBefore, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
const ids = createIds(systemClock, createRandom())
const STATUSES: readonly RowStatus[] = ['pending', 'sent', 'failed', 'cancelled', 'invalid']

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** A job of four rows, of which one was found invalid and the later ones are not validated yet. */
async function createJob(status: 'cancelled' | 'rejected') {
  const job = { accountId: ids.next('acc'), id: ids.next('job') }
  const values = [toUuid(job.accountId), toUuid(job.id)]
  await database.db.query({
    name: 't_job',
    text: 'insert into bulk_jobs (account_id, id, live, key_id, status, total) values ($1, $2, true, $1, $3, 4)',
    values: [...values, status],
  })
  await database.db.query({
    name: 't_rows',
    text: `insert into bulk_rows select $1, $2, n, json_build_object('to', n::text)::text from generate_series(0, 3) as n`,
    values,
  })
  await database.db.query({
    name: 't_outcome',
    text: `insert into bulk_outcomes (account_id, job_id, n, state, error_code) values ($1, $2, 1, 'invalid', 'VALIDATION_ERROR')`,
    values,
  })
  return job
}

test.each([
  ['rejected', { pending: 3, sent: 0, failed: 0, cancelled: 0, invalid: 1 }],
  // As in the counts of the job, by which all four rows were cancelled.
  ['cancelled', { pending: 0, sent: 0, failed: 0, cancelled: 4, invalid: 0 }],
] as const)(
  'each row of a job that was %s during validation has exactly one status',
  async (status, expected) => {
    const job = await createJob(status)
    const ended = status === 'cancelled'
    const list = async (asked?: RowStatus) => (await listRows(database.db, job, asked, ended, -1, 10)).rows
    const all = await list()
    expect(all.map(row => row.n)).toEqual([0, 1, 2, 3])
    for (const asked of STATUSES) {
      const found = await list(asked)
      expect([asked, found.length]).toEqual([asked, expected[asked]])
      expect(found.map(row => viewRow(row, ended).status)).toEqual(found.map(() => asked))
      expect(found).toEqual(all.filter(row => viewRow(row, ended).status === asked))
    }
  },
)

test('a page of rows reads only their recipients, and the start of one that is too long', async () => {
  const job = await createJob('rejected')
  await database.db.query({
    name: 't_long',
    text: `update bulk_rows set body = case n
             when 0 then json_build_object('junk', repeat('x', 4000000), 'to', '+12025550100')::text
             when 1 then json_build_object('to', repeat('x', 4000000))::text
             else json_build_array('+12025550102', repeat('x', 4000000))::text end
            where account_id = $1 and job_id = $2`,
    values: [toUuid(job.accountId), toUuid(job.id)],
  })
  let read = 0
  const db: Db = {
    ...database.db,
    async query<Row extends object>(query: Parameters<Db['query']>[0]) {
      const result = await database.db.query<Row>(query)
      read += JSON.stringify(result.rows).length
      return result
    },
  }
  const { rows } = await listRows(db, job, undefined, false, -1, 3)
  expect(read).toBeLessThan(3_000)
  expect(rows.map(row => viewRow(row, false).to)).toEqual(['+12025550100', 'x'.repeat(1_000), '+12025550102'])
})

test('a page of long rows ends early, and the next one continues behind it', async () => {
  const job = await createJob('rejected')
  await database.db.query({
    name: 't_longer',
    text: `update bulk_rows set body = json_build_object('junk', repeat('x', 20000000), 'to', n::text)::text
            where account_id = $1 and job_id = $2`,
    values: [toUuid(job.accountId), toUuid(job.id)],
  })
  const first = await listRows(database.db, job, undefined, false, -1, 4)
  expect([first.rows.map(row => row.to), first.isCut]).toEqual([['0', '1'], true])
  const last = await listRows(database.db, job, undefined, false, 1, 4)
  expect([last.rows.map(row => row.to), last.isCut]).toEqual([['2', '3'], false])
})

type Plan = { 'Actual Rows': number; 'Actual Loops': number; 'Shared Hit Blocks': number; Plans?: Plan[] }

/** The total of the rows that the nodes of a plan return. */
function rowsIn(plan: Plan): number {
  return (
    plan['Actual Rows'] * plan['Actual Loops'] +
    (plan.Plans ?? []).reduce((sum, each) => sum + rowsIn(each), 0)
  )
}

/** The value as `execute` takes it: arrays are passed in their binary format, which the database turns into a literal. */
async function literalOf(value: unknown, db: Db): Promise<string> {
  if (!Buffer.isBuffer(value)) return String(value)
  const elementType = value.readUInt32BE(8)
  const { rows: types } = await db.query<{ name: string }>({
    name: 't_array_type',
    text: 'select typarray::regtype::text as name from pg_type where oid = $1',
    values: [elementType],
  })
  const { rows } = await db.query<{ literal: string }>({
    name: `t_literal_${elementType}`,
    text: `select $1::${types[0]!.name}::text as literal`,
    values: [value],
  })
  return rows[0]!.literal
}

let asked = 0

/** Rows that a query processes with its generic plan, which PostgreSQL may use from the sixth execution on. */
async function passedBy(ask: (db: Db) => Promise<unknown>): Promise<number> {
  return database.db.transaction(async tx => {
    await tx.query({ name: 't_generic', text: 'set local plan_cache_mode = force_generic_plan' })
    let passed = 0
    await ask({
      async query({ text, values = [] }) {
        const nth = ++asked
        await tx.query({ name: `t_prepare_${nth}`, text: `prepare asked as ${text}` })
        const given: string[] = []
        for (const value of values) given.push(value === null ? 'null' : `'${await literalOf(value, tx)}'`)
        const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
          name: `t_explain_${nth}`,
          text: `explain (analyze, format json) execute asked (${given.join(', ')})`,
        })
        await tx.query({ name: 't_deallocate', text: 'deallocate asked' })
        passed += rowsIn(rows[0]!['QUERY PLAN'][0].Plan)
        return { rows: [], rowCount: 0 }
      },
    })
    return passed
  })
}

const testFrom17 = test.skipIf(isServerBefore(17))

testFrom17('a page reads few rows, however large its job is, also of tables not analysed', async () => {
  const job = { accountId: ids.next('acc'), id: ids.next('job') }
  const values = [toUuid(job.accountId), toUuid(job.id)]
  const fill = (name: string, text: string) => database.db.query({ name, text, values })
  await fill(
    't_large_job',
    `insert into bulk_jobs (account_id, id, live, key_id, status, total, handed_below)
     values ($1, $2, true, $1, 'running', 20000, 10000)`,
  )
  await fill(
    't_large_rows',
    `insert into bulk_rows select $1, $2, n, '{"to":"x"}' from generate_series(0, 19999) as n`,
  )
  await fill(
    't_large_outcomes',
    `with made as (
       insert into messages (account_id, id, live, status, channel, message_type, recipient, provider, connection_id,
                             content, amount, funding, money, parts, candidates, sender_source, bulk_job_id)
       select $1, uuid_at(now() + n * interval '1 ms'), true, 'sent', 'local_sms', 'utility', '+12025550100', 'sandbox', $1,
              '{}', 0, 'none', 'none', 1, 'local_sms', 'account_default', $2 from generate_series(0, 9999) as n returning id)
     insert into bulk_outcomes (account_id, job_id, n, state, message_id)
     select $1, $2, row_number() over (order by id) - 1, 'message', id from made`,
  )
  const pages: Record<string, (db: Db) => Promise<unknown>> = {
    all: db => listRows(db, job, undefined, false, 4_999, 51),
    sent: db => listRows(db, job, 'sent', false, 4_999, 51),
    pending: db => listRows(db, job, 'pending', false, 4_999, 51),
    failed: db => listRows(db, job, 'failed', false, -1, 51),
    checked: db => readRows(db, job, 5_000, 50),
    open: db => listOpenMessages(db, job, null, 50),
    waiting: db => readPendingRows(db, [{ ...job, from: 10_000, limit: 50 }]),
  }
  for (const [name, page] of Object.entries(pages)) {
    expect(await passedBy(page), name).toBeLessThan(1_000)
  }
})

/** Inserts the message of a row with this status; also an outbox row while it is not final. */
async function makeMessage(
  job: { accountId: `acc_${string}`; id: `job_${string}` },
  n: number,
  { status, isPaid = false }: { status: string; isPaid?: boolean },
): Promise<string> {
  const id = toUuid(ids.next('msg'))
  const values = [toUuid(job.accountId), id, toUuid(job.id), n, status, isPaid]
  await database.db.query({
    name: 't_message',
    text: `with message as (
             insert into messages (account_id, id, live, status, channel, message_type, recipient, provider, connection_id, content,
                                   amount, funding, money, parts, candidates, sender_source, bulk_job_id, sent_at, error_code)
             values ($1, $2, true, $5, 'local_sms', 'utility', '+12025550100', 'sandbox', $1, '{}', 0, 'none', 'none', 1,
                     'local_sms', 'account_default', $3, case when $6 then now() end, case when $5 = 'failed' then 'REJECTED' end)
           ), outcome as (
             insert into bulk_outcomes (account_id, job_id, n, state, message_id) values ($1, $3, $4, 'message', $2)
           )
           insert into outbox (account_id, message_id, connection_id, due_at, begun, bulk_row)
           select $1, $2, $1, now(), false, $4 where $5 in ('scheduled', 'queued', 'sending', 'unknown')`,
    values,
  })
  return id
}

test('a row with a message has the status of the message, and is counted by recorded moves only', async () => {
  const job = { accountId: ids.next('acc'), id: ids.next('job') }
  const made: Record<string, string> = {}
  const stands = [
    { status: 'queued', as: 'pending' },
    { status: 'sending', as: 'pending' },
    { status: 'unknown', as: 'pending' },
    { status: 'sent', isPaid: true, as: 'sent' },
    { status: 'undelivered', isPaid: true, as: 'sent' },
    // Rejected long after the provider accepted it.
    { status: 'failed', isPaid: true, as: 'sent' },
    { status: 'failed', as: 'failed' },
    { status: 'expired', as: 'failed' },
    { status: 'cancelled', as: 'cancelled' },
  ]
  await database.db.query({
    name: 't_standing_job',
    text: `insert into bulk_jobs (account_id, id, live, key_id, status, total, unsettled)
           values ($1, $2, true, $1, 'running', $3, true)`,
    values: [toUuid(job.accountId), toUuid(job.id), stands.length],
  })
  await database.db.query({
    name: 't_standing_rows',
    text: `insert into bulk_rows select $1, $2, n, '{"to":"x"}' from generate_series(0, $3::integer - 1) as n`,
    values: [toUuid(job.accountId), toUuid(job.id), stands.length],
  })
  for (const [n, stand] of stands.entries()) made[n] = await makeMessage(job, n, stand)
  const list = async (status?: RowStatus) => {
    const { rows } = await listRows(database.db, job, status, false, -1, 20)
    return rows.map(row => [row.n, viewRow(row, false).status, row.errorCode])
  }
  const standing = (as?: string) =>
    [...stands.entries()]
      .filter(([, stand]) => as === undefined || stand.as === as)
      .map(([n, { status, as }]) => [n, as, status === 'failed' && as === 'failed' ? 'REJECTED' : null])
  expect(await list()).toEqual(standing())
  for (const status of ['pending', 'sent'] as const) expect(await list(status)).toEqual(standing(status))
  expect(await listOpenMessages(database.db, job, null, 2)).toEqual([
    fromUuid('msg', made[0]!),
    fromUuid('msg', made[1]!),
  ])
  expect(await listOpenMessages(database.db, job, fromUuid('msg', made[1]!), 2)).toEqual([
    fromUuid('msg', made[2]!),
  ])

  const recordMoves = (ns: readonly number[]) =>
    database.db.query({
      name: 't_word',
      text: 'insert into bulk_moves select array_fill($1::uuid, array[cardinality($3::integer[])]), array_fill($2::uuid, array[cardinality($3)]), $3, $4',
      values: [toUuid(job.accountId), toUuid(job.id), ns, ns.map(n => stands[n]!.as)],
    })
  const outcomes = async () => {
    const { rows } = await database.db.query<{ state: string }>({
      name: 't_outcomes',
      text: 'select state from bulk_outcomes where account_id = $1 and job_id = $2 order by n',
      values: [toUuid(job.accountId), toUuid(job.id)],
    })
    return rows.map(({ state }) => state)
  }
  await recordMoves([3, 4, 6])
  await recordMoves([5, 7, 8])
  expect(await foldMoves(database.db, systemClock.now(), 100)).toBe(2)
  expect(await foldMoves(database.db, systemClock.now(), 100)).toBe(0)
  expect(await selectJob(database.db, job)).toMatchObject({
    status: 'running',
    sent: 3,
    failed: 2,
    cancelled: 1,
  })
  // A sent row is as its message is: to write it once more would cost most rows of a job a write.
  expect(await outcomes()).toEqual(
    stands.map(({ as }) => (as === 'failed' || as === 'cancelled' ? as : 'message')),
  )
  expect(await list()).toEqual(standing())
  for (const status of STATUSES) expect(await list(status)).toEqual(standing(status))
})

test('a cancelled job keeps the time of its end when its last message is settled', async () => {
  const job = { accountId: ids.next('acc'), id: ids.next('job') }
  const endedAtMs = Date.UTC(2026, 3, 1)
  const values = [toUuid(job.accountId), toUuid(job.id)]
  await database.db.query({
    name: 't_ended_job',
    text: `insert into bulk_jobs (account_id, id, live, key_id, status, total, cancelled, unsettled, ended_at)
           values ($1, $2, true, $1, 'cancelled', 3, 2, true, $3)`,
    values: [...values, new Date(endedAtMs).toISOString()],
  })
  await database.db.query({
    name: 't_last_move',
    text: `insert into bulk_moves (accounts, jobs, rows, states) values (array[$1::uuid], array[$2::uuid], '{0}', '{sent}')`,
    values,
  })
  expect(await foldMoves(database.db, endedAtMs + 1_000, 100)).toBe(1)
  expect(await selectJob(database.db, job)).toMatchObject({ status: 'cancelled', sent: 1, cancelled: 2 })
  const { rows } = await database.db.query<{ ended_at: Date; unsettled: boolean }>({
    name: 't_end',
    text: 'select ended_at, unsettled from bulk_jobs where account_id = $1 and id = $2',
    values,
  })
  expect(rows).toEqual([{ ended_at: new Date(endedAtMs), unsettled: false }])
})
