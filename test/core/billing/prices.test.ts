import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PriceInput } from '../../../src/contract/admin.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { deaf, openRooms, type Rooms } from '../../support/rooms.ts'

let database: TestDatabase
let rooms: Rooms
let other: Rooms

beforeAll(async () => {
  database = await createTestDatabase()
  rooms = await openRooms(database.db)
  other = await openRooms(database.db)
})
afterAll(async () => {
  await rooms.stop()
  await other.stop()
  await database.drop()
})

const row = (change: Partial<PriceInput> = {}): PriceInput => ({
  channel: 'int_sms',
  country: 'GB',
  messageType: 'otp',
  price: 0.04,
  currency: 'USD',
  ...change,
})
const ASKED = {
  channel: 'int_sms',
  country: 'GB',
  e164: '+447700900123',
  messageType: 'otp',
  currency: 'USD',
} as const

describe('the price list', () => {
  test('is replaced as a whole, and every node uses the new one', async () => {
    await rooms.prices.replace([row(), row({ country: '*', price: 0.1 })])
    await other.caughtUp()
    expect((await other.prices.table()).find(ASKED)).toBe(40_000)
    expect(other.prices.table()).not.toBeInstanceOf(Promise)
    await rooms.prices.replace([row({ country: '*', price: 0.2, messageType: '*' })])
    await other.caughtUp()
    expect((await other.prices.table()).find(ASKED)).toBe(200_000)
    expect((await rooms.prices.list({})).data).toEqual([
      { channel: 'int_sms', country: '*', prefix: null, messageType: '*', price: 0.2, currency: 'USD' },
    ])
  })

  test('is the new one on the node that replaced it as soon as the call returns', async () => {
    const alone = await openRooms(database.db, { connect: deaf })
    await alone.prices.replace([row({ price: 0.3 })])
    expect((await alone.prices.table()).find(ASKED)).toBe(300_000)
    await alone.prices.replace([row({ price: 0.4 })])
    expect((await alone.prices.table()).find(ASKED)).toBe(400_000)
    await alone.stop()
  })

  test('is one complete list after concurrent replacements', async () => {
    const lists = [0.01, 0.02, 0.03, 0.04].map(price => [
      row({ price }),
      row({ price, country: 'US' }),
      row({ price, country: '*' }),
    ])
    await Promise.all(lists.map(list => rooms.prices.replace(list)))
    const { data } = await rooms.prices.list({})
    expect(data).toHaveLength(3)
    expect(new Set(data.map(each => each.price)).size).toBe(1)
  })

  test('is read in pages, each row once and in one order', async () => {
    const input = ['1', '12', '44', '447'].flatMap(prefix =>
      (['USD', 'EUR'] as const).map(currency => {
        const { country: _, ...rest } = row({ prefix, currency })
        return rest
      }),
    )
    const countries = [row(), row({ messageType: '*' }), row({ currency: 'EUR' }), row({ country: '*' })]
    await rooms.prices.replace([...input, ...countries])
    const all = (await rooms.prices.list({ limit: 500 })).data
    expect(all).toHaveLength(12)
    for (const limit of [1, 3]) {
      const read: unknown[] = []
      let cursor: string | null = null
      do {
        const page = await rooms.prices.list({ limit, ...(cursor === null ? {} : { cursor }) })
        read.push(...page.data)
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(read).toEqual(all)
    }
  })

  test('is rejected with the path of every fault, and the old one stays', async () => {
    await rooms.prices.replace([row()])
    const bad: PriceInput[] = [
      row(),
      row({ country: 'XX' }),
      row({ currency: 'XYZ' }),
      row({ price: -1 }),
      row({ prefix: '44' }),
      row(),
    ]
    await expect(rooms.prices.replace(bad)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [
        { path: 'prices[1].country' },
        { path: 'prices[2].currency' },
        { path: 'prices[3].price' },
        { path: 'prices[3]', message: expect.stringContaining('prices[0]') },
        { path: 'prices[4].country' },
        { path: 'prices[5]', message: expect.stringContaining('prices[0]') },
      ],
    })
    expect((await rooms.prices.list({})).data).toHaveLength(1)
  })

  test('takes a price of which ten parts still are an amount, and no higher one', async () => {
    const [highest] = await rooms.prices.replace([row({ price: 858_993_459.2 })])
    expect(highest).toMatchObject({ price: 858_993_459.2 })
    await expect(rooms.prices.replace([row({ price: 858_993_459.200001 })])).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'prices[0].price' }],
    })
  })

  test('treats a prefix with and without its plus as the same', async () => {
    const { country: _, ...prefixed } = row({ prefix: '+4477' })
    expect(await rooms.prices.replace([prefixed])).toMatchObject([{ prefix: '4477', country: null }])
    await expect(rooms.prices.replace([prefixed, { ...prefixed, prefix: '4477' }])).rejects.toMatchObject({
      details: [{ path: 'prices[1]' }],
    })
  })
})
