import type { Db } from '../infra/db.ts'

/** A column with sealed values; `key` is the table's primary key. */
export type SealedColumn = {
  table: string
  key: readonly string[]
  column: string
  /** SQL condition for rows with sealed values embedded in JSON or text. Absent where the column is one sealed value. */
  condition?: string
}

export type SealedCell<V> = { key: string[]; value: V }

/** `next`: the key after which the walk goes on; null at the end of the table. */
export type CellPage<V> = { cells: SealedCell<V>[]; next: string[] | null }

/**
 * Of the next `limit` rows in the order of the primary key those with values that may be sealed with another key than `keyId`.
 * Not the next `limit` of these: there may be none among millions of rows, which no single statement can read in time.
 */
export async function readCells<V>(
  db: Db,
  { table, key, column, condition }: SealedColumn,
  keyId: Buffer,
  after: readonly string[] | null,
  limit: number,
): Promise<CellPage<V>> {
  const order = key.join(', ')
  const values: unknown[] = [...(after ?? [])]
  const beyond = after ? `where (${order}) > (${after.map((_, at) => `$${at + 1}`).join(', ')})` : ''
  // The key id follows the version byte; see infra/seal.ts.
  const sealed = condition ?? `substring(${column} from 2 for 4) <> $${values.push(keyId)}`
  const { rows } = await db.query<SealedCell<V> & { sealed: boolean | null; at: number }>({
    name: `cells_${table}_${column}${after ? '_on' : ''}`,
    text: `select array[${key.map(part => `${part}::text`).join(', ')}] as key, ${column} as value, sealed, at
      from (select ${order}, ${column}, ${sealed} as sealed, row_number() over (order by ${order})::integer as at
              from ${table} ${beyond} order by ${order} limit ${limit}) page
      where sealed or at = ${limit} order by ${order}`,
    values,
  })
  const last = rows.at(-1)
  const cells = rows.filter(({ sealed }) => sealed).map(({ key, value }) => ({ key, value }))
  return { cells, next: last?.at === limit ? last.key : null }
}

/** Replaces a value unless it has changed since it was read; false if it has. */
export async function replaceCell<V>(
  db: Db,
  { table, key, column }: SealedColumn,
  cell: SealedCell<V>,
  value: V,
): Promise<boolean> {
  const same = key.map((part, at) => `${part} = $${at + 3}`).join(' and ')
  const { rowCount } = await db.query({
    name: `reseal_${table}_${column}`,
    text: `update ${table} set ${column} = $2 where ${column} = $1 and ${same}`,
    values: [cell.value, value, ...cell.key],
  })
  return rowCount === 1
}
