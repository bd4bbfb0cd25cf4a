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

/** The next rows with values that may be sealed with another key than `keyId`, in the order of the primary key. */
export async function readCells<V>(
  db: Db,
  { table, key, column, condition }: SealedColumn,
  keyId: Buffer,
  after: readonly string[] | null,
  limit: number,
): Promise<SealedCell<V>[]> {
  const order = key.join(', ')
  const values: unknown[] = [...(after ?? [])]
  const beyond = after ? ` and (${order}) > (${after.map((_, at) => `$${at + 1}`).join(', ')})` : ''
  // The key id follows the version byte; see infra/seal.ts.
  const sealed = condition ?? `substring(${column} from 2 for 4) <> $${values.push(keyId)}`
  const { rows } = await db.query<SealedCell<V>>({
    name: `cells_${table}_${column}${after ? '_on' : ''}`,
    text: `select array[${key.map(part => `${part}::text`).join(', ')}] as key, ${column} as value
      from ${table} where ${sealed}${beyond} order by ${order} limit ${limit}`,
    values,
  })
  return rows
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
