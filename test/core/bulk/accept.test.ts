import { afterAll, beforeAll, expect, test } from 'vitest'
import { BULK_ROWS, type BulkAcceptRow } from '../../../src/core/bulk/accept-store.ts'
import { claimLanes, failRows, releaseLanes } from '../../../src/core/bulk/lane-store.ts'
import { claimDue } from '../../../src/core/outbox/store.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { acceptRow } from '../../support/message-rows.ts'

const NODE = 7
const FENCE = 3
const clock = createFakeClock(Date.UTC(2026, 3, 1))
const ids = createIds(clock, createRandom())
const connectionId = ids.next('cnn')
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Creates an account with a lane that this node holds and a running job; each message costs 10. */
async function setUp(balance = 1_000) {
  const job = { accountId: ids.next('acc'), id: ids.next('job') }
  const values = [toUuid(job.accountId), toUuid(job.id)]
  const put = (name: string, text: string, more: unknown[] = []) =>
    database.db.query({ name, text, values: [...values, ...more] })
  await put(
    't_wallet',
    'insert into wallets (account_id, balance, credited) select $1, $3, $3 where $2::uuid is not null',
    [balance],
  )
  await put(
    't_job',
    `insert into bulk_jobs (account_id, id, live, key_id, status, total, unsettled)
     values ($1, $2, true, $1, 'running', 9, true)`,
  )
  await put(
    't_lane',
    `insert into bulk_lanes (account_id, node, fence) select $1, $3, $4 where $2::uuid is not null`,
    [NODE, FENCE],
  )
  return {
    put,
    id: job.id,
    accountId: job.accountId,
    row: (n: number, more: Partial<BulkAcceptRow> = {}): BulkAcceptRow => ({
      ...acceptRow(
        { accountId: job.accountId, id: ids.next('msg'), connectionId, dueAt: clock.now() },
        { claim: null },
      ),
      bulkJobId: job.id,
      n,
      fence: FENCE,
      retried: false,
      ...more,
    }),
    async accept(...rows: BulkAcceptRow[]): Promise<string[]> {
      const verdicts = await BULK_ROWS.accept(database.db, NODE, clock.now(), rows, false)
      return verdicts.map(({ kind }) => kind)
    },
    /** The rows with a message; checks that outcomes, messages and outbox agree. */
    async messages(): Promise<number[]> {
      const { rows } = await put(
        't_messages',
        `select o.n from bulk_outcomes o
           join messages m on m.account_id = o.account_id and m.id = o.message_id and m.bulk_job_id = o.job_id
           join outbox x on x.account_id = o.account_id and x.message_id = o.message_id and x.bulk_row = o.n
          where o.account_id = $1 and o.job_id = $2 and o.state = 'message' order by o.n`,
      )
      const { rows: all } = await put(
        't_all',
        `select (select count(*) from bulk_outcomes where account_id = $1 and job_id = $2)::integer as outcomes,
                (select count(*) from messages where account_id = $1 and $2::uuid is not null)::integer as messages`,
      )
      expect(all).toEqual([{ outcomes: rows.length, messages: rows.length }])
      return rows.map(row => (row as { n: number }).n)
    },
  }
}

test('a row becomes one message only, also when it is accepted again', async () => {
  const { row, accept, messages } = await setUp()
  const first = row(0)
  expect(await accept(first, row(1))).toEqual(['accepted', 'accepted'])
  // Nothing of a batch is accepted if one of its rows already has a message.
  expect(await accept(row(2), row(1), row(3))).toEqual(['later', 'stale', 'later'])
  expect(await messages()).toEqual([0, 1])
  // Retried because the response to the first call was lost.
  expect(await accept({ ...first, retried: true }, row(2))).toEqual(['known', 'accepted'])
  expect(await messages()).toEqual([0, 1, 2])
})

test('a row without sufficient funds becomes no message, and can be accepted after a credit', async () => {
  const { put, row, accept, messages } = await setUp(10)
  expect(await accept(row(0), row(1))).toEqual(['accepted', 'insufficient'])
  expect(await messages()).toEqual([0])
  await put(
    't_credit',
    'update wallets set balance = balance + 10, credited = credited + 10 where account_id = $1 and $2::uuid is not null',
  )
  expect(await accept(row(1))).toEqual(['accepted'])
  expect(await messages()).toEqual([0, 1])
})

test('rows are refused for a lane that another node holds, and for a job that has ended', async () => {
  const { put, row, accept, messages } = await setUp()
  expect(await accept(row(0), row(1, { fence: FENCE - 1 }))).toEqual(['later', 'stale'])
  await put('t_release', 'update bulk_lanes set node = null where account_id = $1 and $2::uuid is not null')
  expect(await accept(row(0), row(1))).toEqual(['stale', 'stale'])
  await put('t_regain', 'update bulk_lanes set node = $3 where account_id = $1 and $2::uuid is not null', [
    NODE,
  ])
  await put('t_cancel', `update bulk_jobs set status = 'cancelled' where account_id = $1 and id = $2`)
  expect(await accept(row(0), row(1))).toEqual(['over', 'over'])
  expect(await messages()).toEqual([])
})

test('a row is marked as failed only by the node that holds the lane, and once', async () => {
  const { put, row, accept, accountId, id } = await setUp()
  const fail = (n: number, fence = FENCE, node = NODE) =>
    failRows(database.db, node, clock.now(), [
      { accountId, id, n, fence, code: 'NOT_FOUND', message: 'gone' },
    ])
  expect(await accept(row(0))).toEqual(['accepted'])
  expect([await fail(1, FENCE - 1), await fail(1, FENCE, NODE + 1)]).toEqual([[false], [false]])
  expect(await fail(1)).toEqual([true])
  // A row that is a message already, or failed before, is not counted again.
  expect([await fail(0), await fail(1)]).toEqual([[true], [true]])
  const { rows } = await put(
    't_failed',
    'select failed, total, status from bulk_jobs where account_id = $1 and id = $2',
  )
  expect(rows).toEqual([{ failed: 1, total: 9, status: 'running' }])
})

test('the row of a one-time code keeps only its recipient once its message has the sealed text', async () => {
  const { put, row, accept } = await setUp(20)
  await put(
    't_bodies',
    `insert into bulk_rows (account_id, job_id, n, body)
     values ($1, $2, 0, '["+12025550100","code 1"]'), ($1, $2, 1, '{"to":"+12025550101","text":"code 2"}'),
            ($1, $2, 2, '["+12025550102","code 3"]')`,
  )
  const secret = () => Buffer.from('sealed')
  const otp = { messageType: 'otp', secret } as const
  expect(await accept(row(0, otp), row(1, otp), row(2, otp))).toEqual([
    'accepted',
    'accepted',
    'insufficient',
  ])
  const { rows } = await put(
    't_bodies_left',
    'select body from bulk_rows where account_id = $1 and job_id = $2 order by n',
  )
  expect(rows).toEqual([
    { body: '["+12025550100"]' },
    { body: '["+12025550101"]' },
    { body: '["+12025550102","code 3"]' },
  ])
})

test('a lane is not claimed while rows are being accepted for it, nor for paused jobs, and each time with a new fence', async () => {
  const { put, row, accountId } = await setUp()
  const claim = () => claimLanes(database.db, NODE + 1, 100, [])
  const ours = async () => (await claim()).filter(lane => lane.accountId === accountId)
  await database.db.transaction(async tx => {
    await BULK_ROWS.accept(tx, NODE, clock.now(), [row(0)], false)
    expect(await ours()).toEqual([])
  })
  await put('t_pause', `update bulk_jobs set status = 'paused' where account_id = $1 and id = $2`)
  expect(await ours()).toEqual([])
  await put('t_resume', `update bulk_jobs set status = 'running' where account_id = $1 and id = $2`)
  // The node that held it is not alive.
  expect(await ours()).toEqual([{ accountId, fence: FENCE + 1 }])
  await releaseLanes(database.db, NODE + 1, [accountId])
  expect(await ours()).toEqual([{ accountId, fence: FENCE + 2 }])
})

test('queued messages are claimed by the node that holds the lane, or by any node if none does', async () => {
  const { put, id, row, accept } = await setUp()
  const waits = { owned: false, begun: false, status: 'queued' } as const
  const claim = (node: number) =>
    claimDue(database.db, node, clock.now(), [{ connectionId, limit: 10 }]).then(rows =>
      rows.map(each => each.bulkJobId),
    )
  expect(await accept(row(0, waits), row(1, waits))).toEqual(['accepted', 'accepted'])
  await put(
    't_alive',
    `insert into nodes (id, host) overriding system value select $3, 'here' where $1::uuid <> $2`,
    [NODE],
  )
  expect(await claim(NODE + 1)).toEqual([])
  expect(await claim(NODE)).toEqual([id, id])
  await put('t_back', 'update outbox set owner = null where account_id = $1 and $2::uuid is not null')
  await put('t_left', 'update bulk_lanes set node = null where account_id = $1 and $2::uuid is not null')
  expect(await claim(NODE + 1)).toEqual([id, id])
  // The remaining messages of a job that has ended are not paced.
  await put('t_back', 'update outbox set owner = null where account_id = $1 and $2::uuid is not null')
  await put('t_end', 'update bulk_jobs set ended_at = now() where account_id = $1 and id = $2')
  expect(await claim(NODE)).toEqual([undefined, undefined])
})

test('queued messages for a web session need not wait for the lane’s node, unless their job is paused', async () => {
  const { put, row, accept } = await setUp()
  const waits = { owned: false, begun: false, status: 'queued' } as const
  const claim = () => claimDue(database.db, NODE + 1, clock.now(), [{ connectionId, limit: 10 }])
  expect(await accept(row(0, waits))).toEqual(['accepted'])
  await put(
    't_lane_lives',
    `insert into nodes (id, host) overriding system value select $3, 'here' where $1::uuid <> $2 on conflict do nothing`,
    [NODE],
  )
  expect(await claim()).toEqual([])
  await put(
    't_session',
    `insert into web_sessions (account_id, id, name, live, sandbox, state, changed_at, wanted)
     select $1, $3, 'desk', true, false, 'open', now(), true where $1::uuid <> $2`,
    [toUuid(connectionId)],
  )
  await put('t_pause', `update bulk_jobs set status = 'paused' where account_id = $1 and id = $2`)
  expect(await claim()).toEqual([])
  await put('t_resume', `update bulk_jobs set status = 'running' where account_id = $1 and id = $2`)
  // The claiming node does not hold the lane, so the message waits for no turn.
  const [claimed] = await claim()
  expect(claimed).toMatchObject({ connectionId })
  expect(claimed?.bulkJobId).toBeUndefined()
})
