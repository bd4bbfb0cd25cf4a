import type { PriceInput, PriceRow } from '../../contract/admin.ts'
import { readAmount } from '../../contract/amount.ts'
import { checkCountry, checkCurrency } from '../../contract/country-currency.ts'
import {
  DEFAULT_LIMIT,
  type Page,
  type PageQuery,
  pageOf,
  readCursor,
  writeCursor,
} from '../../contract/cursor.ts'
import { createFaults, type Faults } from '../../contract/faults.ts'
import { MAX_PARTS_OF_SMS } from '../../contract/send.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Database, Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import { fromMicros, MAX_MICROS } from '../../lib/money.ts'
import { allPrices, listPrices, replacePrices } from './price-store.ts'
import { createPriceTable, type Price, type PriceTable } from './price-table.ts'

export type Prices = {
  /** The whole list, prepared for look-ups. Synchronous when cached. */
  table(): PriceTable | Promise<PriceTable>
  list(query: PageQuery): Promise<Page<PriceRow>>
  /** Replaces the whole list. VALIDATION_ERROR names each row that is wrong or repeated. */
  replace(input: readonly PriceInput[]): Promise<PriceRow[]>
  replaceIn(db: Db, input: readonly PriceInput[]): Promise<PriceRow[]>
}

export type PricesDeps = {
  db: Database
  clock: Clock
  changes: Pick<Changes, 'fresh' | 'subscribe' | 'publish'>
}

const ANY = '*'
const CACHE_KEY = 'all'
const TABLE = 'prices'
/** So that the longest message, too, costs no more than an amount may be. */
const MAX_PRICE_MICROS = Math.floor(MAX_MICROS / MAX_PARTS_OF_SMS)
/** While notifications of changes fail, the list is read again this often rather than for every message. */
const REREAD_MS = 500

export function createPrices({ db, clock, changes }: PricesDeps): Prices {
  const cache = createFreshCache<typeof CACHE_KEY, PriceTable>({
    clock,
    fresh: changes.fresh,
    load: async () => createPriceTable(await allPrices(db)),
    ownerOf: () => CACHE_KEY,
    maxEntries: 1,
    maxAgeMs: REREAD_MS,
  })
  changes.subscribe({
    changed(table) {
      if (table === TABLE) cache.clear()
    },
    reset: cache.clear,
  })

  async function list({ limit = DEFAULT_LIMIT, cursor }: PageQuery): Promise<Page<PriceRow>> {
    const after = cursor === undefined ? null : readCursor(cursor, words => words.length === 5)
    const rows = await listPrices(db, after, limit + 1)
    return pageOf(rows, limit, viewPrice, cursorAfter)
  }

  async function replaceIn(tx: Db, input: readonly PriceInput[]): Promise<PriceRow[]> {
    const prices = readPrices(input)
    await replacePrices(tx, prices)
    return prices.map(viewPrice)
  }

  return {
    // The list is never null, only empty.
    table: () => cache.get(CACHE_KEY) as PriceTable | Promise<PriceTable>,
    list,
    async replace(input) {
      const prices = await db.transaction(tx => replaceIn(tx, input))
      changes.publish(TABLE, null)
      return prices
    },
    replaceIn,
  }
}

function readPrices(input: readonly PriceInput[]): Price[] {
  const faults = createFaults()
  const firstAt = new Map<string, number>()
  const prices = input.map((row, at) => {
    const path = `prices[${at}]`
    const price = readPrice(row, path, faults)
    const first = firstAt.get(cursorAfter(price))
    if (first !== undefined)
      faults.add(path, `has the same destination, type and currency as prices[${first}]`)
    else firstAt.set(cursorAfter(price), at)
    return price
  })
  faults.check()
  return prices
}

function readPrice(row: PriceInput, path: string, faults: Faults): Price {
  const { country, prefix } = row
  if ((country === undefined) === (prefix === undefined)) {
    faults.add(`${path}.country`, 'give exactly one of country (`*` for any) and prefix')
  }
  if (country !== undefined && country !== ANY) checkCountry(country, `${path}.country`, faults)
  checkCurrency(row.currency, `${path}.currency`, faults)
  return {
    channel: row.channel,
    country: country ?? null,
    prefix: prefix?.replace('+', '') ?? null,
    messageType: row.messageType ?? ANY,
    price: readAmount(row.price, `${path}.price`, 0, faults, MAX_PRICE_MICROS),
    currency: row.currency,
  }
}

/** A row's position in the list, which is also its unique key. */
function cursorAfter(row: Price): string {
  return writeCursor(row.channel, row.country ?? '', row.prefix ?? '', row.messageType, row.currency)
}

function viewPrice(row: Price): PriceRow {
  return { ...row, price: fromMicros(row.price) }
}
