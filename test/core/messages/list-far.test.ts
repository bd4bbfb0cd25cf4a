import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import type { Message, MessageQuery } from '../../../src/contract/message.ts'
import { createMessages } from '../../../src/core/messages/read.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

/** More rows than one statement reads. */
const MANY = 120_000

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  await app.db.query({
    name: 'fill',
    timeoutMs: 60_000,
    // One per second, the newest now; every 20,000th is a failed OTP.
    text: `insert into messages (account_id, id, live, attempt, status, channel, message_type, recipient, provider,
        connection_id, sender_source, candidates, amount, funding, money, answer, error_code, ended_at)
      select $1, (lpad(to_hex($2::bigint - n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, true, 1,
             case when n % 20000 = 0 then 'failed' else 'delivered' end, 'local_sms',
             case when n % 20000 = 0 then 'otp' else 'utility' end, '+12025550123', 'sandbox',
             gen_random_uuid(), 'platform', 'local_sms', 1, 'wallet', 'captured', 'sent',
             case when n % 40000 = 0 then 'MESSAGE_REJECTED' when n % 20000 = 0 then 'RECIPIENT_REJECTED' end,
             case when n % 20000 = 0 then now() end
        from generate_series(1, ${MANY}) n`,
    values: [toUuid(account.id as AccountId), app.now()],
  })
})
afterAll(() => app.stop())

/** All pages of the result of `query` if every statement takes `eachMs`. */
async function pagesOf(query: Omit<MessageQuery, 'limit'>, eachMs: number): Promise<Message[][]> {
  let nowMs = 0
  const messages = createMessages({
    db: app.db,
    clock: { ...systemClock, monotonic: () => (nowMs += eachMs) },
    phones: createPhones({ cacheSize: 10 }),
    explain: () => null,
    officialNames: async () => () => null,
  })
  const caller = { account: { id: account.id, currency: 'USD' } } as Caller
  const pages: Message[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const asked = { ...query, limit: 100, ...(cursor !== '' && { cursor }) }
    const page: Awaited<ReturnType<typeof messages.list>> = await messages.list(caller, asked)
    pages.push(page.data)
    cursor = page.nextCursor
  }
  return pages
}

test('a filter that few messages match finds each once, over more pages if statements are slow', async () => {
  const slow = await pagesOf({ messageType: 'otp' }, 1_000)
  expect(slow.map(page => page.length)).toEqual([1, 1, 1, 1, 1, 1])
  const times = slow.flat().map(({ createdAt }) => createdAt)
  expect(new Set(times).size).toBe(6)
  expect(times).toEqual(times.toSorted().reverse())
  const fast = await pagesOf({ messageType: 'otp' }, 0)
  expect(fast).toEqual([slow.flat()])
})

test('failed messages are found in one page, even if statements are slow', async () => {
  const failed = await pagesOf({ status: 'failed' }, 1_000)
  expect(failed.map(page => page.length)).toEqual([6])
  const rejected = await pagesOf({ status: 'failed', errorCode: 'MESSAGE_REJECTED' }, 1_000)
  expect(rejected.map(page => page.length)).toEqual([3])
})

test('a cursor continues a filtered list, an unfiltered page is full, and an empty result has no cursor', async () => {
  const path = '/api/v2/messages?messageType=otp&limit=1'
  const first = await app.call(path, { key: account.liveKey })
  const second = await app.call(`${path}&cursor=${first.body['nextCursor']}`, { key: account.liveKey })
  const times = [first, second].map(({ body }) => (body['data'] as Message[])[0]!.createdAt)
  expect(Date.parse(times[0]!) - Date.parse(times[1]!)).toBe(20_000_000)
  const all = await app.call('/api/v2/messages?limit=500', { key: account.liveKey })
  expect(all.body['data']).toHaveLength(500)
  const none = await app.call('/api/v2/messages?status=failed&createdAfter=2100-01-01T00:00:00Z', {
    key: account.liveKey,
  })
  expect([none.body['data'], none.body['nextCursor']]).toEqual([[], null])
})
