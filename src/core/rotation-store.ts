import type { Db } from '../infra/db.ts'

/** A column in which sealed values lie; `key` is the table's own. */
export type SealedColumn = {
  table: string
  key: readonly string[]
  column: string
  /** The values stand in other bytes, or in text: which rows have some. By default the column is one sealed value. */
  inside?: string
}

export type SealedCell<V> = { key: string[]; value: V }

/** The next rows with something that another key than this one may have sealed, in the order of the table's key. */
export async function readCells<V>(
  db: Db,
  { table, key, column, inside }: SealedColumn,
  keyId: Buffer,
  after: readonly string[] | null,
  limit: number,
): Promise<SealedCell<V>[]> {
  const order = key.join(', ')
  const values: unknown[] = [...(after ?? [])]
  const beyond = after ? ` and (${order}) > (${after.map((_, at) => `$${at + 1}`).join(', ')})` : ''
  // The key's id stands behind the version; see infra/seal.ts.
  const sealed = inside ?? `substring(${column} from 2 for 4) <> $${values.push(keyId)}`
  const { rows } = await db.query<SealedCell<V>>({
    name: `cells_${table}_${column}${after ? '_on' : ''}`,
    text: `select array[${key.map(part => `${part}::text`).join(', ')}] as key, ${column} as value
      from ${table} where ${sealed}${beyond} order by ${order} limit ${limit}`,
    values,
  })
  return rows
}

/** False when the value is another one by now. */
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
