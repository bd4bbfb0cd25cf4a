import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Caller } from '../../src/contract/caller.ts'
import { CHANNELS, MESSAGE_TYPES } from '../../src/contract/enums.ts'
import { seed } from '../../src/core/seed.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { BASIC_ACCOUNT, openRooms, type Rooms } from '../support/rooms.ts'

let database: TestDatabase
let rooms: Rooms

beforeEach(async () => {
  database = await createTestDatabase()
  rooms = await openRooms(database.db)
})
afterEach(async () => {
  await rooms.stop()
  await database.drop()
})

const run = () =>
  seed({
    db: database.db,
    accounts: rooms.accountAdmin,
    prices: rooms.prices,
    connections: rooms.connectionAdmin,
    senders: rooms.senderReview,
  })

test('when several nodes start at once, exactly one seeds the database and returns the test key', async () => {
  const keys = (await Promise.all([run(), run(), run(), run()])).filter(seeded => seeded !== null)
  expect(keys).toHaveLength(1)
  expect(await run()).toBeNull()
  const caller = (await rooms.keys.lookup(keys[0]!.testKey)) as Caller
  expect(caller).toMatchObject({
    mode: 'test',
    account: { name: 'Demo', homeCountry: 'US', currency: 'USD', phone: { verified: true } },
  })
  expect(await rooms.account.read(caller)).toMatchObject({
    wallet: { balance: 100, held: 0 },
    plan: { name: 'default', pool: [{ used: 0 }] },
  })
  expect((await rooms.accountAdmin.list({})).data).toHaveLength(1)
})

test('the seed gives every channel and message type a price, a connection and, for SMS, a sender', async () => {
  const { testKey } = (await run())!
  const { account } = (await rooms.keys.lookup(testKey)) as Caller
  const prices = await rooms.prices.table()
  for (const channel of CHANNELS) {
    for (const messageType of MESSAGE_TYPES) {
      const query = { channel, messageType, country: 'EG', e164: '+201000000000', currency: account.currency }
      expect(prices.find(query)).toBeGreaterThan(0)
    }
  }
  expect(await rooms.connections.forAccount(account.id)).toMatchObject([
    { provider: 'sandbox', name: 'Sandbox', channels: CHANNELS, priorityOrder: 1_000 },
  ])
  expect((await rooms.senders.forAccount(account.id)).default).toMatchObject({ name: 'Posthorn' })
})

test('a database that already has an account is not seeded', async () => {
  await rooms.accountAdmin.create(BASIC_ACCOUNT)
  expect(await run()).toBeNull()
  expect((await rooms.prices.list({})).data).toEqual([])
})
