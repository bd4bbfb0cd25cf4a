import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RESENDS, type ResendRow } from '../../../src/core/verification/accept-store.ts'
import {
  type CheckRow,
  checkCodes,
  readVerification,
  readVerificationOf,
} from '../../../src/core/verification/store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { type AccountId, createIds, fromUuid, type Id, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { makeMonths } from '../../support/make-months.ts'
import { acceptRow } from '../../support/message-rows.ts'

const NOW = Date.UTC(2026, 2, 15)
const TURN_OF_MONTH = Date.UTC(2026, 2, 1)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const MARK = Buffer.of(1)
const FIRST_OF_ALL = fromUuid('ver', '00000000-0000-0000-0000-000000000000')
const LAST_OF_ALL = fromUuid('ver', 'ffffffff-ffff-ffff-ffff-ffffffffffff')

const random = createRandom()
const idsAt = (ms: number) => createIds(createFakeClock(ms), random)
const accountId: AccountId = idsAt(NOW).next('acc')
let database: TestDatabase
let accepts = 0
let persons = 0

beforeAll(async () => {
  database = await createTestDatabase()
  await makeMonths(database.db, '2025-12', '2026-01', '2026-02', '2026-03')
})
afterAll(() => database.drop())

const nextPerson = () => `+120255501${String(persons++).padStart(2, '0')}`

/** Stores a verification that was accepted after all others; `atMs` is the time by its node’s clock. */
async function started(atMs: number, person: string): Promise<Id<'ver'>> {
  const id = idsAt(atMs).next('ver')
  const uuid = toUuid(id)
  await database.db.query({
    name: 'a_verification',
    text: `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, message_id, channel,
             started_at, expires_at, resend_at, code_hash, messages, started_with, accept_no)
           values ($1, $2, true, 10, $3, $3, $2, 'local_sms', $4, $5, $4, $6, array[$2::uuid], 1, $7)`,
    values: [
      toUuid(accountId),
      uuid,
      person,
      new Date(atMs).toISOString(),
      new Date(atMs + 10 * MINUTE_MS).toISOString(),
      hash('sha256', Buffer.concat([MARK, Buffer.from(uuid.replaceAll('-', ''), 'hex')]), 'buffer'),
      ++accepts,
    ],
  })
  return id
}

function check(more: Partial<CheckRow>): CheckRow {
  const checkId = idsAt(NOW).next('req')
  return { accountId, live: true, id: null, recipientKey: null, codeDigest: MARK, checkId, ...more }
}

async function kinds(nowMs: number, ...rows: CheckRow[]): Promise<string[]> {
  return (await checkCodes(database.db, nowMs, rows)).map(({ kind }) => kind)
}

/** The monthly partitions that a check read. */
function monthsRead(rows: readonly CheckRow[]): Promise<string[]> {
  return monthsReadBy(tx => checkCodes(tx, NOW, rows))
}

async function monthsReadBy(work: (tx: Db) => Promise<unknown>): Promise<string[]> {
  return database.db.transaction(async tx => {
    const before = await reads(tx)
    await work(tx)
    const after = await reads(tx)
    return [...after].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name)
  })
}

async function reads(tx: Db): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ name: string; count: number }>({
    name: 'reads_of_months',
    text: `select relname as name, (seq_scan + idx_scan)::integer as count from pg_stat_xact_user_tables
            where relname ~ '^verifications_' order by relname`,
  })
  return new Map(rows.map(({ name, count }) => [name, count]))
}

test('a check reads only the partition of the month of its code', async () => {
  const person = nextPerson()
  const id = await started(NOW, person)
  const wrong = Buffer.of(2)
  expect(await monthsRead([check({ id, codeDigest: wrong })])).toEqual(['verifications_2026_03'])
  expect(await monthsRead([check({ recipientKey: person, codeDigest: wrong })])).toEqual([
    'verifications_2026_03',
  ])
  expect(await kinds(NOW, check({ id }), check({ id: await started(NOW, nextPerson()) }))).toEqual([
    'right',
    'right',
  ])
})

test('a code of months ago is expired, and one that never existed is missing', async () => {
  const person = nextPerson()
  const id = await started(Date.UTC(2025, 11, 24), person)
  expect(await kinds(NOW, check({ id }), check({ recipientKey: person }))).toEqual(['expired', 'expired'])
  expect(await kinds(NOW, check({ recipientKey: nextPerson() }))).toEqual(['missing'])
  // A recent verification of another recipient in the same call makes no difference.
  const young = await started(NOW, nextPerson())
  expect(await kinds(NOW, check({ id }), check({ id: young }))).toEqual(['expired', 'right'])
})

test.each([
  ['in the next month', TURN_OF_MONTH - MINUTE_MS, TURN_OF_MONTH + MINUTE_MS],
  [
    'in the previous month, by the slow clock of a node',
    TURN_OF_MONTH + MINUTE_MS,
    TURN_OF_MONTH - MINUTE_MS,
  ],
])('a verification is superseded by a later one whose time is %s', async (_, firstMs, secondMs) => {
  const person = nextPerson()
  const first = await started(firstMs, person)
  const second = await started(secondMs, person)
  const nowMs = TURN_OF_MONTH + 2 * MINUTE_MS
  expect(await kinds(nowMs, check({ id: first }))).toEqual(['missing'])
  expect(await kinds(nowMs, check({ id: first, codeDigest: Buffer.of(2) }))).toEqual(['missing'])
  // Other rows of the same call make no difference.
  for (const id of [FIRST_OF_ALL, LAST_OF_ALL])
    expect(await kinds(nowMs, check({ id }), check({ id: first }))).toEqual(['missing', 'missing'])
  expect(await kinds(nowMs, check({ recipientKey: person }))).toEqual(['right'])
  expect(await kinds(nowMs + 2 * DAY_MS, check({ id: second }))).toEqual(['used'])
})

describe('a read', () => {
  const readOf = (db: Db, recipientKey: string) =>
    readVerificationOf(db, { accountId, live: true, recipientKey }, NOW)

  test('reads only the partition of the month of its verification', async () => {
    const person = nextPerson()
    const id = await started(NOW, person)
    // Often enough for custom plans and the generic plan.
    for (let n = 0; n < 8; n++) {
      expect(await monthsReadBy(tx => readVerification(tx, accountId, id, NOW))).toEqual([
        'verifications_2026_03',
      ])
      expect(await monthsReadBy(tx => readOf(tx, person))).toEqual(['verifications_2026_03'])
    }
  })

  test('finds a verification of months ago by its recipient, until a later one supersedes it', async () => {
    const person = nextPerson()
    const id = await started(Date.UTC(2025, 11, 24), person)
    expect(await readOf(database.db, person)).toMatchObject({ id, current: true })
    expect(await readOf(database.db, nextPerson())).toBeNull()
    const later = await started(NOW, person)
    expect(await readVerification(database.db, accountId, id, NOW)).toMatchObject({ current: false })
    expect(await readOf(database.db, person)).toMatchObject({ id: later, current: true })
  })

  test('finds the superseding verification across the turn of the month, also by a slow clock', async () => {
    for (const [firstMs, secondMs] of [
      [TURN_OF_MONTH - MINUTE_MS, TURN_OF_MONTH + MINUTE_MS],
      [TURN_OF_MONTH + MINUTE_MS, TURN_OF_MONTH - MINUTE_MS],
    ] as const) {
      const person = nextPerson()
      const first = await started(firstMs, person)
      const second = await started(secondMs, person)
      const nowMs = TURN_OF_MONTH + 2 * MINUTE_MS
      expect(await readVerification(database.db, accountId, first, nowMs)).toMatchObject({ current: false })
      expect(await readVerification(database.db, accountId, second, nowMs)).toMatchObject({ current: true })
    }
  })
})

describe('a resend', () => {
  /** A resend that the balance does not cover: the verification is checked before the balance. */
  const resendOf = (id: Id<'ver'>): ResendRow => {
    const ids = idsAt(NOW)
    const message = ids.next('msg')
    return {
      ...acceptRow({ accountId, id: message, connectionId: ids.next('cnn'), dueAt: NOW }),
      resend: {
        codeDigest: () => MARK,
        verificationId: id,
        resends: 0,
        messages: [message],
        turn: null,
        sentAt: NOW,
        expiresAt: NOW + 10 * MINUTE_MS,
        resendAt: NOW + MINUTE_MS,
      },
    }
  }
  const resend = (db: Db, id: Id<'ver'>) => RESENDS.accept(db, 1, NOW, [resendOf(id)], false)

  test('reads only the partition of its month, and is stale once its verification is superseded', async () => {
    const person = nextPerson()
    const first = await started(NOW - MINUTE_MS, person)
    expect(await monthsReadBy(tx => resend(tx, first))).toEqual(['verifications_2026_03'])
    expect(await resend(database.db, first)).toEqual([{ kind: 'insufficient' }])
    await started(NOW, person)
    expect(await resend(database.db, first)).toEqual([{ kind: 'stale' }])
  })
})
