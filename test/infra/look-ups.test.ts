import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { functionStatements, withoutComments } from '../support/sql-statements.ts'

/** For each table the columns with which its indexes begin. */
type FirstColumns = ReadonlyMap<string, ReadonlySet<string>>
let database: TestDatabase
let firstColumns: FirstColumns

beforeAll(async () => {
  database = await createTestDatabase()
  const { rows } = await database.db.query<{ name: string; columns: string[] }>({
    name: 'first_columns',
    text: `select i.indrelid::regclass::text as name, array_agg(distinct a.attname::text) as columns
             from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
            where i.indpred is null and i.indrelid::regclass::text !~ '^pg_' group by 1`,
  })
  firstColumns = new Map(rows.map(row => [row.name, new Set(row.columns)]))
})
afterAll(() => database.drop())

/**
 * The comparisons by which a statement looks up a joined table, if the plan may as well read the table's whole
 * index: the planner derives the order of rows from an equality with the first column of an index, and may read
 * the index for that order (decision 32).
 */
function orderedLookUps(statement: string, columns: FirstColumns): string[] {
  const text = withoutComments(statement)
  const joined = [...text.matchAll(/\b(?:join|using|update|delete from)\s+(\w+)\s+(\w+)\b/g)]
  return joined.flatMap(([, name, alias]) => {
    const first = [...(columns.get(name!) ?? [])].join('|')
    if (first === '') return []
    const equality = new RegExp(
      `(?<![\\w.])${alias}\\.(?:${first}) = (?:\\w+\\.\\w+|p_\\w+\\[[a-z_.]+\\])`,
      'g',
    )
    return [...text.matchAll(equality)].map(([found]) => found)
  })
}

/** From these no order follows: three compare with a variable of their loop, and one is an alternative. */
const WITHOUT_ORDER = [
  'accept_bulk.sql: o.account_id = p_account[r.item]',
  'claim_bulk_lanes.sql: l.account_id = r.account_id',
  'join_parts.sql: m.whole_id = w.whole_id',
  'check_codes.sql: v.recipient_key = p_recipient_key[a.n]',
]

test('functions look joined tables up by an array of one in the first column of an index', () => {
  const found = functionStatements().flatMap(({ of, text }) =>
    orderedLookUps(text, firstColumns).map(what => `${of}: ${what}`),
  )
  expect(found.filter(each => !WITHOUT_ORDER.includes(each))).toEqual([])
})

test.each([
  'delete from outbox o using applied a where o.account_id = a.account_id and o.message_id = a.id',
  'select 1 from i join messages m on m.account_id = p_account[n] and m.id = i.id',
  'update wallets w set held = 0 from s where w.account_id = s.account_id',
  'select 1 from i left join provider_refs r on r.connection_id = i.connection and r.provider_id = i.provider_id',
])('reports an equality in: %s', statement => {
  expect(orderedLookUps(statement, firstColumns)).toHaveLength(1)
})

test.each([
  'delete from outbox o using applied a where o.account_id = any (array[a.account_id]) and o.message_id = a.id',
  'select 1 from i cross join lateral (select 1 from messages x where x.account_id = i.account_id and x.id = i.id limit 1) m',
  'select 1 from i join messages m on m.account_id = any (array[i.account_id]) and m.parts = i.parts',
])('reports nothing for: %s', statement => {
  expect(orderedLookUps(statement, firstColumns)).toEqual([])
})
