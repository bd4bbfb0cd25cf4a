import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInboundMessages } from '../../../src/core/inbound/read.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

/** More than two statements scan. */
const MANY = 45_000
const NUMBER = '+12025550100'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  // The oldest is an e-mail, from a sender with two messages; all others are SMS.
  await database.db.query({
    name: 't_many',
    text: `insert into inbound_messages (account_id, id, connection_id, provider, provider_id, channel, sender, recipient)
      select '00000000-0000-0000-0000-000000000000', first_uuid_at('2026-11-01T00:00:00Z'::timestamptz + n * interval '1 second'),
             gen_random_uuid(), 'smpp', n::text, case when n = 1 then 'email_user' else 'int_sms' end,
             case when n in (1, ${MANY}) then '+447700900123' else '+4477009' || n end, '${NUMBER}'
        from generate_series(1, ${MANY}) n`,
    timeoutMs: 60_000,
  })
}, 120_000)
afterAll(() => database.drop())

/** A list whose clock is past the time limit of a page at each reading. */
function listOf() {
  let nowMs = 0
  const clock = { monotonic: () => (nowMs += 1_000) }
  return createInboundMessages({ db: database.db, clock, phones: createPhones({ cacheSize: 10 }) }).listShared
}

test.each([
  ['messages of a rare channel', { channel: 'email_user' as const }, 3, '1'],
  ['messages of a rare channel to a busy number', { channel: 'email_user' as const, to: NUMBER }, 3, '1'],
  ['messages of one sender to a busy number', { to: NUMBER, from: '+447700900123' }, 1, String(MANY)],
])(
  'a search for %s keeps the time limit of each page, and misses none over its pages',
  async (_, filter, pages, first) => {
    const list = listOf()
    const found: string[] = []
    let asked = 0
    let cursor: string | undefined
    do {
      const page = await list({ ...filter, limit: 50, ...(cursor !== undefined && { cursor }) })
      asked++
      found.push(...page.data.map(each => each.providerMessageId))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(asked).toBe(pages)
    expect(found[0]).toBe(first)
    expect(found.at(-1)).toBe('1')
  },
)

test('a filter with an index, or no filter, returns its page at once', async () => {
  const list = listOf()
  expect(await list({ from: '+447700900123', limit: 50 })).toMatchObject({
    data: [{ providerMessageId: String(MANY) }, { providerMessageId: '1' }],
    nextCursor: null,
  })
  expect((await list({ limit: 50 })).data).toHaveLength(50)
})

test('a page of long messages ends early, and the pages together have every message', async () => {
  await database.db.query({
    name: 't_long',
    text: `insert into inbound_messages
             (account_id, id, connection_id, provider, provider_id, channel, sender, recipient, body, button)
      select '00000000-0000-0000-0000-000000000000', first_uuid_at('2026-12-01T00:00:00Z'::timestamptz + n * interval '1 second'),
             gen_random_uuid(), 'whatsapp-cloud', 'long ' || n, 'official_chatapp', '+12025550111', '+12025550122',
             repeat('é', 40000), repeat('é', 40000)
        from generate_series(1, 60) n`,
  })
  for (const filter of [{}, { channel: 'official_chatapp' as const }, { from: '+12025550111' }]) {
    const list = listOf()
    const sizes: number[] = []
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await list({ ...filter, limit: 50, ...(cursor !== undefined && { cursor }) })
      const long = page.data.filter(each => each.provider === 'whatsapp-cloud')
      sizes.push(long.length)
      found.push(...long.map(each => each.providerMessageId))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined && found.length < 60)
    // 160,000 bytes each, of which a page has 4 MB.
    expect(sizes).toEqual([25, 25, 10])
    expect(found).toEqual(Array.from({ length: 60 }, (_, at) => `long ${60 - at}`))
  }
})
