import type { Db } from '../../infra/db.ts'
import type { Price } from './price-table.ts'

const COLUMNS = `channel, country, prefix, message_type as "messageType", price, currency`
/** The order of lists and cursors; nulls are replaced, since they cannot be compared. */
const ORDER = `channel, coalesce(country, ''), coalesce(prefix, ''), message_type, currency`

export async function allPrices(db: Db): Promise<Price[]> {
  const { rows } = await db.query<Price>({ name: 'prices_all', text: `select ${COLUMNS} from prices` })
  return rows
}

/** `after` are the values of the columns of `ORDER` in the last row of the previous page; null for the first page. */
export async function listPrices(db: Db, after: readonly string[] | null, limit: number): Promise<Price[]> {
  const { rows } = await db.query<Price>({
    name: after ? 'prices_page' : 'prices_first_page',
    text: `select ${COLUMNS} from prices
      ${after ? `where (${ORDER}) > ($2, $3, $4, $5, $6)` : ''} order by ${ORDER} limit $1`,
    values: [limit, ...(after ?? [])],
  })
  return rows
}

/** Replaces the whole list; needs a transaction. The lock makes a concurrent replacement wait. */
export async function replacePrices(db: Db, prices: readonly Price[]): Promise<void> {
  await db.query({ name: 'prices_lock', text: 'lock table prices in share row exclusive mode' })
  await db.query({ name: 'prices_delete', text: 'delete from prices' })
  await db.query({
    name: 'prices_insert',
    text: `insert into prices (channel, country, prefix, message_type, price, currency)
      select channel, country, prefix, "messageType", price, currency
        from json_to_recordset($1::json)
          as p (channel text, country text, prefix text, "messageType" text, price bigint, currency text)`,
    values: [JSON.stringify(prices)],
  })
}
