import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetCode } from '../../../src/core/verification/accept-store.ts'
import { type AccountId, createIds, type Id, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeMonths } from '../../support/make-months.ts'
import { type AskedTurn, findLate } from '../../support/turns.ts'

const MINUTE_MS = 60_000
/** Shortly after a month began. */
const START_MS = Date.UTC(2026, 4, 1, 0, 5)
const TO = '+12025550123'

let database: TestDatabase
let nowMs = START_MS
const ids = createIds({ now: () => nowMs, monotonic: () => 0, after: () => () => {} }, createRandom())

beforeAll(async () => {
  database = await createTestDatabase()
  await makeMonths(database.db, '2026-04', '2026-05')
})
afterAll(() => database.drop())

type Stored = { atMs?: number[]; key?: string; mailbox?: string; live?: boolean; status?: string }

/** Stores a verification whose codes were sent at `atMs`, the first of them with its start. */
async function store(accountId: AccountId, stored: Stored): Promise<Id<'ver'>> {
  const atMs = stored.atMs ?? [nowMs]
  nowMs = atMs[0]!
  const id = ids.next('ver')
  const times = atMs.map(each => new Date(each).toISOString())
  await database.db.query({
    name: 'store_verification',
    text: `insert into verifications (account_id, id, live, status, validity_minutes, recipient, recipient_key, mailbox,
             message_id, channel, started_at, expires_at, resend_at, code_hash, messages, started_with, codes_at)
           values ($1, $2, $3, $4, 10, $5, $5, $6, $2, 'local_sms', $7, $7, $7, 'a', array[$2::uuid], 1, $8)`,
    values: [
      ...[toUuid(accountId), toUuid(id), stored.live ?? true, stored.status ?? 'pending'],
      ...[stored.key ?? TO, stored.mailbox ?? null, times[0], times.length === 1 ? null : times],
    ],
  })
  return id
}

const turnOf = (accountId: AccountId, more: Partial<AskedTurn> = {}): AskedTurn => ({
  ...{ accountId, person: TO, sends: 3, windowMinutes: 10, strict: true, atMs: nowMs },
  ...more,
})
const lateAt = async (asked: AskedTurn) => (await findLate(database.db, [asked]))[0]

test('a recipient gets a limited number of codes in a sliding window, resends included', async () => {
  const accountId = ids.next('acc')
  await store(accountId, { atMs: [START_MS] })
  expect(await lateAt(turnOf(accountId, { sends: 2 }))).toBeNull()
  await store(accountId, { atMs: [START_MS + MINUTE_MS, START_MS + 3 * MINUTE_MS] })
  const at = (minutes: number, more: Partial<AskedTurn> = {}) =>
    lateAt(turnOf(accountId, { atMs: START_MS + minutes * MINUTE_MS, ...more }))
  expect(await at(4)).toEqual({ late: true, freeAtMs: START_MS + 10 * MINUTE_MS })
  // With a limit of two, the second of the three is the one to wait for.
  expect(await at(4, { sends: 2 })).toEqual({ late: true, freeAtMs: START_MS + 11 * MINUTE_MS })
  expect(await at(4, { sends: 4 })).toBeNull()
  expect(await at(4, { strict: false })).toEqual({ late: false, freeAtMs: START_MS + 10 * MINUTE_MS })
  expect(await at(10)).toBeNull()
  expect(await at(10, { sends: 2 })).toMatchObject({ freeAtMs: START_MS + 11 * MINUTE_MS })
  expect(await at(11, { sends: 1 })).toMatchObject({ freeAtMs: START_MS + 13 * MINUTE_MS })
  expect(await at(13, { sends: 1 })).toBeNull()
})

test('codes that failed, were forgotten, or are of a test key or another account do not count', async () => {
  const accountId = ids.next('acc')
  for (const other of [{ status: 'failed' }, { live: false }]) await store(accountId, other)
  await store(ids.next('acc'), {})
  expect(await lateAt(turnOf(accountId, { sends: 1 }))).toBeNull()
  const atMs = [nowMs, nowMs + MINUTE_MS, nowMs + 2 * MINUTE_MS]
  const id = await store(accountId, { atMs })
  await forgetCode(database.db, accountId, id, atMs[1]!)
  expect(await lateAt(turnOf(accountId, { atMs: atMs[2]! }))).toBeNull()
  expect(await lateAt(turnOf(accountId, { atMs: atMs[2]!, sends: 2 }))).toMatchObject({ late: true })
})

test('a mailbox and all its sub-addresses count as one recipient', async () => {
  const accountId = ids.next('acc')
  await store(accountId, { key: 'a@example.com' })
  await store(accountId, { key: 'a+1@example.com', mailbox: 'a@example.com' })
  const person = 'a@example.com'
  expect(await lateAt(turnOf(accountId, { person, sends: 2 }))).toMatchObject({ late: true })
  expect(await lateAt(turnOf(accountId, { person, sends: 3 }))).toBeNull()
  expect(await lateAt(turnOf(accountId, { person: 'b@example.com', sends: 1 }))).toBeNull()
  // Also if it only had codes at sub-addresses.
  await store(accountId, { key: 'c+1@example.com', mailbox: 'c@example.com' })
  expect(await lateAt(turnOf(accountId, { person: 'c@example.com', sends: 1 }))).toMatchObject({ late: true })
})

test('codes of last month count while in the window, and each row of a batch has its own result', async () => {
  const accountId = ids.next('acc')
  await store(accountId, { atMs: [START_MS - 6 * MINUTE_MS] })
  await store(accountId, { key: '+12025550124', atMs: [START_MS] })
  nowMs = START_MS
  const asked = [
    turnOf(accountId, { sends: 1 }),
    turnOf(accountId, { sends: 1, windowMinutes: 5, person: '+12025550125' }),
    turnOf(accountId, { sends: 1, strict: false, person: '+12025550124' }),
    turnOf(accountId, { sends: 2 }),
  ]
  expect(await findLate(database.db, asked)).toEqual([
    { late: true, freeAtMs: START_MS + 4 * MINUTE_MS },
    null,
    { late: false, freeAtMs: START_MS + 10 * MINUTE_MS },
    null,
  ])
})

test('codes from a clock that was hours ahead do not count, those of a node whose clock is minutes ahead do', async () => {
  const hours = ids.next('acc')
  const minutes = ids.next('acc')
  const now = START_MS + 20 * MINUTE_MS
  await store(hours, { atMs: [1, 2, 3].map(each => now + 5 * 60 * MINUTE_MS + each) })
  await store(minutes, { atMs: [1, 2, 3].map(each => now + each * MINUTE_MS) })
  expect(await lateAt(turnOf(hours, { atMs: now }))).toBeNull()
  expect(await lateAt(turnOf(minutes, { atMs: now }))).toEqual({ late: true, freeAtMs: now + 11 * MINUTE_MS })
})
