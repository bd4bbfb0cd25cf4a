import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type ConversationWindows,
  createConversationWindows,
  openWindowsOf,
} from '../../../src/core/inbound/windows.ts'
import { sweepWindows } from '../../../src/core/inbound/windows-store.ts'
import type { Database, Query } from '../../../src/infra/db.ts'
import { type ConnectionId, createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'

const DAY_MS = 24 * 3_600_000
const ADA = '+16505551234'

let database: TestDatabase
let clock: FakeClock
let windows: ConversationWindows
let db: Database
let connectionId: ConnectionId
let queries: string[]
const ids = createIds(createFakeClock(), createRandom())

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  clock = createFakeClock()
  connectionId = ids.next('cnn')
  queries = []
  const query = (request: Query) => {
    queries.push(request.name)
    return database.db.query(request)
  }
  db = { ...database.db, query } as Database
  windows = createConversationWindows({ db })
})

type Inbound = Parameters<typeof openWindowsOf>[2][number]

function inbound(from: string, more: Partial<Inbound> = {}): Inbound {
  return { connectionId, channel: 'official_chatapp', from, sentAtMs: clock.now(), ...more }
}

const receive = (...rows: Inbound[]) => openWindowsOf(db, clock.now(), rows)
const open = (recipient = ADA, atMs = clock.now()) => windows.isOpen({ connectionId, recipient }, atMs)

test('a message opens the window of its sender and connection for a day from its own time', async () => {
  expect(await open()).toBe(false)
  await receive(inbound(ADA, { sentAtMs: clock.now() - 3_600_000 }))
  expect(await open()).toBe(true)
  expect(await open('+16505550000')).toBe(false)
  expect(await windows.isOpen({ connectionId: ids.next('cnn'), recipient: ADA }, clock.now())).toBe(false)
  expect(await open(ADA, clock.now() + DAY_MS - 3_600_001)).toBe(true)
  expect(await open(ADA, clock.now() + DAY_MS - 3_600_000)).toBe(false)
})

test.each([
  ['Mexico', '+5215512345678', '+525512345678', '+525512345679'],
  ['Brazil', '+553187654321', '+5531987654321', '+5531987654322'],
  ['Argentina', '+5491123456789', '+541123456789', '+541123456780'],
])(
  'a message from one form of a mobile in %s opens the window of the other form too',
  async (_, from, other, third) => {
    await receive(inbound(from))
    expect(await open(from)).toBe(true)
    expect(await open(other)).toBe(true)
    expect(await open(third)).toBe(false)
  },
)

test('a late older message does not shorten a window, and a time in the future does not lengthen it', async () => {
  await receive(inbound(ADA), inbound(ADA, { sentAtMs: clock.now() - DAY_MS }))
  await receive(inbound(ADA, { sentAtMs: clock.now() - DAY_MS / 2 }))
  expect(await open(ADA, clock.now() + DAY_MS - 1)).toBe(true)
  await receive(inbound(ADA, { sentAtMs: clock.now() + DAY_MS }))
  expect(await open(ADA, clock.now() + DAY_MS)).toBe(false)
})

test('a message without a time opens a window from now; one of another channel opens none', async () => {
  await receive(inbound(ADA, { sentAtMs: null }), inbound('+1650555', { channel: 'int_sms' }))
  expect(await open(ADA, clock.now() + DAY_MS - 1)).toBe(true)
  expect(await open('+1650555')).toBe(false)
  queries = []
  await receive(inbound(ADA, { channel: 'int_sms' }))
  expect(queries).toEqual([])
})

test('concurrent lookups share at most two queries, and each gets its own result', async () => {
  const recipients = Array.from({ length: 100 }, (_, nth) => `+1650555${1_000 + nth}`)
  await receive(...recipients.filter((_, nth) => nth % 3 === 0).map(each => inbound(each)))
  queries = []
  const answers = await Promise.all(recipients.map(each => open(each)))
  expect(answers).toEqual(recipients.map((_, nth) => nth % 3 === 0))
  expect(queries.length).toBeLessThanOrEqual(2)
})

test('closed windows are swept in small batches, and open ones stay', async () => {
  await receive(inbound(ADA), inbound('+16505550001'), inbound('+16505550002'))
  await clock.advance(DAY_MS + 1)
  await receive(inbound('+16505550003'))
  const sweepAll = async () => {
    let swept = 0
    for (let count = 2; count === 2; swept += count) count = await sweepWindows(database.db, clock.now(), 2)
    return swept
  }
  expect(await sweepAll()).toBeGreaterThanOrEqual(3)
  expect(await open('+16505550003')).toBe(true)
  expect(await sweepAll()).toBe(0)
})

test('a window that is reopened during a sweep stays, and the sweep does not wait for it', async () => {
  await receive(inbound(ADA))
  await clock.advance(2 * DAY_MS)
  await database.db.transaction(async tx => {
    await openWindowsOf(tx, clock.now(), [inbound(ADA)])
    expect(await sweepWindows(database.db, clock.now(), 10)).toBe(0)
  })
  expect(await open()).toBe(true)
})
