import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { createSandboxMessages, type SandboxMessages } from '../../../src/core/sandbox/messages.ts'
import { type AccountId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createSandboxBench } from '../../support/sandbox.ts'

const DAY_MS = 86_400_000
const clock = createFakeClock()
const ids = createIds(clock, createRandom())
const never = new AbortController().signal

let database: TestDatabase
let sandbox: SandboxMessages
beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = createSandboxMessages({ db: database.db, phones: createPhones({ cacheSize: 10 }) })
})
afterAll(() => database.drop())

function callerOf(accountId: AccountId, mode: Caller['mode'] = 'test'): Caller {
  return { mode, account: { id: accountId } } as Caller
}

/** Sends one message to each recipient, a second apart, and returns the account. */
async function sent(...recipients: string[]): Promise<AccountId> {
  const accountId = ids.next('acc')
  const bench = createSandboxBench(database.db, accountId)
  const link = await bench.open()
  for (const to of recipients) {
    await link.send(bench.outgoing({ to }), never)
    await bench.pass(1_000)
  }
  await link.close()
  return accountId
}

describe('list', () => {
  const five = ['+15550104561', '+15550104562', '+15550104561', '+15550104564', '+15550104561']

  test('is newest first, in pages that neither skip nor repeat', async () => {
    const caller = callerOf(await sent(...five))
    const seen: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await sandbox.list(caller, { limit: 2, ...(cursor && { cursor }) })
      seen.push(...page.data.map(row => row.to))
      cursor = page.nextCursor ?? undefined
      pages++
    } while (cursor)
    expect(seen).toEqual(five.toReversed())
    expect(pages).toBe(3)
  })

  test('has no next page after one that is exactly full', async () => {
    const caller = callerOf(await sent(...five))
    expect((await sandbox.list(caller, { limit: 5 })).nextCursor).toBeNull()
  })

  test('filters by recipient, also if the plus sign arrives as a space', async () => {
    const caller = callerOf(await sent(...five))
    for (const to of ['+15550104561', ' 15550104561']) {
      const first = await sandbox.list(caller, { to, limit: 2 })
      const second = await sandbox.list(caller, { to, limit: 2, cursor: first.nextCursor! })
      expect([first.data.length, second.data.length, second.nextCursor]).toEqual([2, 1, null])
      expect(new Set([...first.data, ...second.data].map(row => row.to))).toEqual(new Set(['+15550104561']))
    }
    expect((await sandbox.list(caller, { to: '+1555010456', limit: 50 })).data).toEqual([])
  })

  test('shows an account its own messages only', async () => {
    await sent(...five)
    expect((await sandbox.list(callerOf(ids.next('acc')), { limit: 50 })).data).toEqual([])
  })

  test('is refused to a live key', async () => {
    const caller = callerOf(await sent(...five), 'live')
    await expect(sandbox.list(caller, { limit: 50 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test.each([
    '',
    'x',
    Buffer.from('1767225600000').toString('base64url'),
    Buffer.from(`99999999999999 ${ids.next('msg')}`).toString('base64url'),
    Buffer.from(`1767225600000 ${ids.next('acc')}`).toString('base64url'),
    Buffer.from(`1767225600000 ${ids.next('msg')} more`).toString('base64url'),
  ])('refuses the cursor "%s"', async cursor => {
    const caller = callerOf(ids.next('acc'))
    await expect(sandbox.list(caller, { cursor, limit: 50 })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'cursor' }],
    })
  })
})

describe('sweep', () => {
  /** `count` rows, received one second apart, the newest at the clock's time less `agoMs`. */
  async function filled(count: number, agoMs: number): Promise<AccountId> {
    const accountId = ids.next('acc')
    await database.db.query({
      name: 'test_fill_sandbox',
      text: `
        insert into sandbox_messages (account_id, message_id, channel, recipient, attempts, received_at, content)
        select $1, gen_random_uuid(), 'local_sms', at::text, 1,
               to_timestamp($2::double precision / 1000) - at * interval '1 second', '{}'
        from generate_series(0, $3::integer - 1) as at`,
      values: [toUuid(accountId), clock.now() - agoMs, count],
    })
    return accountId
  }

  async function left(accountId: AccountId) {
    const { rows } = await database.db.query<{ count: number; oldest: string | null }>({
      name: 'test_count_sandbox',
      text: `select count(*), max(recipient::integer)::text as oldest from sandbox_messages where account_id = $1`,
      values: [toUuid(accountId)],
    })
    return rows[0]
  }

  test('deletes by age and by number, and leaves the rest alone', async () => {
    const crowded = await filled(25_000, 0)
    const crowdedAndOld = await filled(15_000, 7 * DAY_MS - 5_000_500)
    const old = await filled(10, 7 * DAY_MS + 1)
    const edge = await filled(10, 7 * DAY_MS - 4_500)
    const small = await filled(3, 6 * DAY_MS)

    expect(await sandbox.sweep(clock.now())).toBe(15_000 + 10_000 - 1 + 10 + 5)

    expect(await left(crowded)).toEqual({ count: 10_000, oldest: '9999' })
    expect(await left(crowdedAndOld)).toEqual({ count: 5_001, oldest: '5000' })
    expect(await left(old)).toEqual({ count: 0, oldest: null })
    expect(await left(edge)).toEqual({ count: 5, oldest: '4' })
    expect(await left(small)).toEqual({ count: 3, oldest: '2' })
    expect(await sandbox.sweep(clock.now())).toBe(0)
  })

  test('deletes receipts that were never fetched and throttling that ended long ago', async () => {
    const bench = createSandboxBench(database.db)
    const link = await bench.open()
    await link.send(bench.outgoing(), never)
    await link.send(bench.outgoing({ to: '+15550100006' }), never)
    await link.close()
    const count = async () => {
      const { rows } = await database.db.query<{ receipts: number; rests: number }>({
        name: 'test_count_leftovers',
        text: 'select (select count(*) from sandbox_receipts) as receipts, (select count(*) from sandbox_rests) as rests',
      })
      return rows[0]!
    }
    await sandbox.sweep(clock.now() + 6 * DAY_MS)
    expect((await count()).rests).toBe(1)
    expect((await count()).receipts).toBeGreaterThanOrEqual(1)
    await sandbox.sweep(clock.now() + 8 * DAY_MS)
    expect(await count()).toEqual({ receipts: 0, rests: 0 })
  })
})
