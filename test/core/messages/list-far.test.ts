import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Message } from '../../../src/contract/message.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

/** More than a page looks at. */
const MANY = 120_000

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  await app.db.query({
    name: 'fill',
    timeoutMs: 60_000,
    // One a second, the newest now; every 20,000th has failed.
    text: `insert into messages (account_id, id, live, attempt, status, channel, message_type, recipient, provider,
        connection_id, sender_source, candidates, amount, funding, money, answer)
      select $1, (lpad(to_hex($2::bigint - n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, true, 1,
             case when n % 20000 = 0 then 'failed' else 'delivered' end, 'local_sms', 'utility', '+12025550123', 'sandbox',
             gen_random_uuid(), 'platform', 'local_sms', 1, 'wallet', 'captured', 'sent'
        from generate_series(1, ${MANY}) n`,
    values: [toUuid(account.id as AccountId), app.now()],
  })
})
afterAll(() => app.stop())

test('a rare filter finds everything once, a bounded look at a time', async () => {
  const found: string[] = []
  const lengths: number[] = []
  let cursor: unknown = null
  do {
    const query = `status=failed&limit=100${cursor === null ? '' : `&cursor=${cursor}`}`
    const answer = await app.call(`/api/v2/messages?${query}`, { key: account.liveKey })
    expect(answer.status).toBe(200)
    const page = answer.body['data'] as Message[]
    lengths.push(page.length)
    found.push(...page.map(({ createdAt }) => createdAt))
    cursor = answer.body['nextCursor']
  } while (cursor !== null)
  expect(lengths).toEqual([2, 3, 1])
  expect(new Set(found).size).toBe(6)
  expect(found).toEqual([...found].sort().reverse())
})

test('pages within a look go on as ever, and an unfiltered list has no end before its end', async () => {
  const first = await app.call('/api/v2/messages?status=failed&limit=1', { key: account.liveKey })
  const second = await app.call(`/api/v2/messages?status=failed&limit=1&cursor=${first.body['nextCursor']}`, {
    key: account.liveKey,
  })
  const times = [first, second].map(({ body }) => (body['data'] as Message[])[0]!.createdAt)
  expect(Date.parse(times[0]!) - Date.parse(times[1]!)).toBe(20_000_000)
  const all = await app.call('/api/v2/messages?limit=500', { key: account.liveKey })
  expect(all.body['data']).toHaveLength(500)
  const none = await app.call('/api/v2/messages?status=failed&createdAfter=2100-01-01T00:00:00Z', {
    key: account.liveKey,
  })
  expect([none.body['data'], none.body['nextCursor']]).toEqual([[], null])
})
