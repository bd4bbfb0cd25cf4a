import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHANNELS, type Channel, MESSAGE_TYPES } from '../../../src/contract/enums.ts'
import { createPriceTable, type Price, type PriceQuery } from '../../../src/core/billing/price-table.ts'

const price = (change: Partial<Price>): Price => ({
  channel: 'int_sms',
  country: change.prefix === undefined ? '*' : null,
  prefix: null,
  messageType: '*',
  price: 1,
  currency: 'USD',
  ...change,
})
const query = (change: Partial<PriceQuery> = {}): PriceQuery => ({
  channel: 'int_sms',
  country: 'GB',
  e164: '+447700900123',
  messageType: 'otp',
  currency: 'USD',
  ...change,
})

describe('the price of a message', () => {
  test('is that of the longest prefix, else of the country, else of any country', () => {
    const list = [
      price({ price: 1 }),
      price({ country: 'GB', price: 2 }),
      price({ prefix: '44', price: 3 }),
      price({ prefix: '447700', price: 4 }),
    ]
    const found = (rows: Price[]) => createPriceTable(rows).find(query())
    expect(found(list)).toBe(4)
    expect(found(list.slice(0, 3))).toBe(3)
    expect(found(list.slice(0, 2))).toBe(2)
    expect(found(list.slice(0, 1))).toBe(1)
    expect(found([])).toBeNull()
  })

  test('prefers the message type within a destination, and a closer destination to the message type', () => {
    const list = [
      price({ messageType: 'otp', price: 5 }),
      price({ price: 6 }),
      price({ country: 'GB', price: 7 }),
    ]
    expect(createPriceTable(list.slice(0, 2)).find(query())).toBe(5)
    expect(createPriceTable(list.slice(0, 2)).find(query({ messageType: 'marketing' }))).toBe(6)
    expect(createPriceTable(list).find(query())).toBe(7)
  })

  test('can be zero, and is null if no row matches', () => {
    expect(createPriceTable([price({ price: 0 })]).find(query())).toBe(0)
    expect(
      createPriceTable([price({ country: 'GB', messageType: 'otp' })]).find(
        query({ messageType: 'utility' }),
      ),
    ).toBeNull()
  })

  test('is null in another currency or on another channel', () => {
    const table = createPriceTable([price({})])
    expect(table.find(query({ currency: 'EUR' }))).toBeNull()
    expect(table.find(query({ channel: 'email_user' }))).toBeNull()
  })

  test('is that of any country if the recipient has no phone number', () => {
    const table = createPriceTable([
      price({ prefix: '44', price: 9 }),
      price({ country: 'GB', price: 8 }),
      price({}),
    ])
    expect(table.find(query({ country: null, e164: null }))).toBe(1)
  })

  test('is that of the best match in a scan of the whole list', () => {
    const rows = fc.uniqueArray(
      fc.record({
        channel: fc.constantFrom<Channel>('int_sms', 'email_user'),
        place: fc.oneof(
          fc.record({ country: fc.constantFrom('*', 'GB', 'US'), prefix: fc.constant(null) }),
          fc.record({ country: fc.constant(null), prefix: fc.constantFrom('4', '44', '447', '1', '1202') }),
        ),
        messageType: fc.constantFrom('*' as const, ...MESSAGE_TYPES),
        price: fc.nat(1_000_000),
        currency: fc.constantFrom('USD', 'EUR'),
      }),
      {
        selector: ({ channel, place, messageType, currency }) =>
          JSON.stringify([channel, place, messageType, currency]),
        maxLength: 60,
      },
    )
    const queries = fc.record({
      channel: fc.constantFrom(...CHANNELS),
      country: fc.constantFrom('GB', 'US', 'FR', null),
      e164: fc.constantFrom('+447700900123', '+12025550100', '+33123456789', null),
      messageType: fc.constantFrom(...MESSAGE_TYPES),
      currency: fc.constantFrom('USD', 'EUR', 'JPY'),
    })
    fc.assert(
      fc.property(rows, queries, (drawn, asked) => {
        const list: Price[] = drawn.map(({ place, ...rest }) => ({ ...place, ...rest }))
        expect(createPriceTable(list).find(asked)).toBe(bestByScan(list, asked))
      }),
      { numRuns: 500 },
    )
  })
})

/** The best of all rows that match: the reference for the table. */
function bestByScan(list: readonly Price[], asked: PriceQuery): number | null {
  const closeness = (row: Price) => {
    const place = row.prefix ? 2 + row.prefix.length : row.country === '*' ? 0 : 1
    return place * 2 + (row.messageType === '*' ? 0 : 1)
  }
  const fits = (row: Price) =>
    row.channel === asked.channel &&
    row.currency === asked.currency &&
    (row.messageType === '*' || row.messageType === asked.messageType) &&
    (row.prefix === null
      ? row.country === '*' || row.country === asked.country
      : (asked.e164?.startsWith(`+${row.prefix}`) ?? false))
  const best = list.filter(fits).sort((a, b) => closeness(b) - closeness(a))[0]
  return best?.price ?? null
}
