import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReceivedMessage } from '../../../src/contract/sandbox-inbox.ts'
import { readInbox } from '../../../src/core/sandbox/messages-store.ts'
import { recallPlanned } from '../../../src/core/sandbox/recall-store.ts'
import { createSandboxInbox } from '../../../src/core/sandbox/store.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const clock = createFakeClock()
const ids = createIds(clock, createRandom())
const nowMs = clock.now()

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

function taken(over: Partial<ReceivedMessage> = {}, attempts = 1): ReceivedMessage {
  return {
    connectionId: ids.next('cnn'),
    accountId: ids.next('acc'),
    messageId: ids.next('msg'),
    receivedAtMs: nowMs,
    content: {
      channel: 'local_sms',
      to: '+15550104567',
      sender: null,
      subject: null,
      text: 'text',
      html: null,
      media: null,
      template: null,
      attempts,
    },
    receipts: [],
    ...over,
  }
}

/** A connection with `count` receipts, each due a millisecond after the one before. */
async function planned(count: number) {
  const inbox = createSandboxInbox({ db: database.db })
  const connectionId = ids.next('cnn')
  const receipts = Array.from({ length: count }, (_, at) => ({
    providerId: `sbx_${at}`,
    status: 'delivered' as const,
    dueAtMs: nowMs + at,
  }))
  await inbox.store(taken({ connectionId, receipts }))
  return { inbox, connectionId }
}

test('concurrent messages are stored by one statement, and each is durable when its call resolves', async () => {
  const queries: string[] = []
  const inbox = createSandboxInbox({
    db: {
      query(query) {
        queries.push(query.name)
        return database.db.query(query)
      },
    },
  })
  const accountId = ids.next('acc')
  const messages = Array.from({ length: 200 }, () => taken({ accountId }))
  await Promise.all(messages.map(message => inbox.store(message)))
  expect(queries).toEqual(['sandbox_take'])
  expect((await readInbox(database.db, { accountId, to: null, before: null, limit: 500 })).rows).toHaveLength(
    200,
  )
})

test('the same message stored again, even concurrently, only raises its attempts', async () => {
  const inbox = createSandboxInbox({ db: database.db })
  const message = taken({}, 1)
  const again = { ...message, receivedAtMs: nowMs + 60_000, content: { ...message.content, attempts: 3 } }
  await Promise.all([inbox.store(again), inbox.store(message)])
  const { accountId } = message
  const { rows } = await readInbox(database.db, { accountId, to: null, before: null, limit: 500 })
  expect(rows.map(row => row.attempts)).toEqual([3])
})

test.each([
  ['quotes and backslashes', '{"a\\"b", \'c\' \\N} \\x00'],
  ['emoji and right-to-left', '📯 שלום'],
  ['a NUL character', 'before\0after'],
  ['line breaks', 'one\r\ntwo\n'],
])('a text with %s is read back unchanged', async (_what, text) => {
  const inbox = createSandboxInbox({ db: database.db })
  const message = taken()
  await inbox.store({ ...message, content: { ...message.content, text, to: 'o"\'\\{,}@example.com' } })
  const { accountId } = message
  const [row] = (await readInbox(database.db, { accountId, to: null, before: null, limit: 1 })).rows
  expect(row).toMatchObject({ text, to: 'o"\'\\{,}@example.com' })
})

test('receipts are claimed when due, oldest first, and by one node at a time', async () => {
  const { inbox, connectionId } = await planned(10)
  const claim = { connectionId, nowMs: nowMs + 5, claimedUntilMs: nowMs + 5_000, limit: 4 }
  const claims = await Promise.all([inbox.claimReceipts(claim), inbox.claimReceipts(claim)])
  const dues = claims.map(claimed => claimed.map(receipt => receipt.dueAtMs - nowMs))
  for (const due of dues) expect(due).toEqual(due.toSorted((a, b) => a - b))
  expect(dues.flat().toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5])
})

test('a receipt is hidden while it is claimed, and due again when the claim expires', async () => {
  const { inbox, connectionId } = await planned(1)
  const claim = { connectionId, nowMs, claimedUntilMs: nowMs + 5_000, limit: 10 }
  expect(await inbox.nextReceiptAt(connectionId, nowMs)).toBe(nowMs)
  expect(await inbox.claimReceipts(claim)).toHaveLength(1)
  expect(await inbox.nextReceiptAt(connectionId, nowMs + 4_999)).toBeNull()
  expect(await inbox.claimReceipts({ ...claim, nowMs: nowMs + 4_999 })).toEqual([])
  expect(await inbox.nextReceiptAt(connectionId, nowMs + 5_000)).toBe(nowMs)
})

test('a node whose claim has expired does not finish a receipt that another node has claimed', async () => {
  const { inbox, connectionId } = await planned(1)
  const slow = await inbox.claimReceipts({ connectionId, nowMs, claimedUntilMs: nowMs + 5_000, limit: 10 })
  const next = { connectionId, nowMs: nowMs + 5_000, claimedUntilMs: nowMs + 10_000, limit: 10 }
  const quick = await inbox.claimReceipts(next)
  await inbox.finishReceipts(slow)
  expect(await inbox.nextReceiptAt(connectionId, nowMs + 10_000)).toBe(nowMs)
  await inbox.finishReceipts(quick)
  expect(await inbox.nextReceiptAt(connectionId, nowMs + 10_000)).toBeNull()
})

test('concurrent messages to a throttled recipient start one throttling period', async () => {
  const inbox = createSandboxInbox({ db: database.db })
  const accountId = ids.next('acc')
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      inbox.throttledUntil({
        accountId,
        recipient: '+15550100006',
        acceptedAtMs: nowMs,
        nowMs: nowMs + at,
        throttleMs: 5_000,
      }),
    ),
  )
  expect(new Set(ends).size).toBe(1)
})

test('a recipient is throttled for no longer because a clock was far ahead', async () => {
  const inbox = createSandboxInbox({ db: database.db })
  const aheadMs = nowMs + 40 * 86_400_000
  const wish = {
    accountId: ids.next('acc'),
    recipient: '+15550100006',
    acceptedAtMs: aheadMs,
    throttleMs: 5_000,
  }
  const until = (atMs: number) => inbox.throttledUntil({ ...wish, nowMs: atMs })
  expect(await until(aheadMs)).toBe(aheadMs + 5_000)
  expect(await until(nowMs)).toBe(nowMs + 5_000)
  // Its next attempt, which is taken.
  expect(await until(nowMs + 5_250)).toBe(nowMs + 5_000)
})

test('receipts and verdicts that a clock far ahead has planned or claimed are due once it is set right', async () => {
  const inbox = createSandboxInbox({ db: database.db })
  const aheadMs = nowMs + 7_200_000
  const connectionId = ids.next('cnn')
  const receipts = (['delivered', 'read'] as const).map((status, at) => ({
    providerId: 'sbx_ahead',
    status,
    dueAtMs: aheadMs + 1_000 * (at + 1),
  }))
  await inbox.store(taken({ connectionId, receipts }))
  const template = { connectionId, name: 'ahead', language: 'en', decidedAtMs: aheadMs + 1_000 }
  await inbox.storeTemplate(template)
  // That clock's node dies while it tells one of each.
  const claim = { connectionId, nowMs: aheadMs + 1_000, claimedUntilMs: aheadMs + 6_000, limit: 1 }
  expect(await inbox.claimReceipts(claim)).toHaveLength(1)
  expect(await inbox.claimDecisions(claim)).toHaveLength(1)
  await inbox.storeTemplate({ ...template, name: 'later' })
  const right = { connectionId, nowMs, claimedUntilMs: nowMs + 5_000, limit: 10 }
  expect(await inbox.claimReceipts(right)).toEqual([])

  const lastMs = nowMs + 600_000
  expect(await recallPlanned(database.db, nowMs, lastMs)).toBe(4)
  expect(await inbox.claimReceipts(right)).toMatchObject([
    { status: 'delivered', dueAtMs: nowMs },
    { status: 'read', dueAtMs: nowMs },
  ])
  expect(await inbox.claimDecisions(right)).toMatchObject([{ name: 'ahead' }, { name: 'later' }])
  // What a right clock has planned and claimed stays.
  expect(await recallPlanned(database.db, nowMs, lastMs)).toBe(0)
})
