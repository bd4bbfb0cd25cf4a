import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { functionStatements, sourceStatements, withoutComments } from '../support/sql-statements.ts'

const LOCKS = /\bfor (?:no key )?update\b/
const WRITES = /\b(?:update \w+ (?:\w+ )?set|delete from)\b/

/** The partitioned tables, each with its partition key column. */
type Keys = ReadonlyMap<string, string>
let database: TestDatabase
let keys: Keys

beforeAll(async () => {
  database = await createTestDatabase()
  const { rows } = await database.db.query<{ name: string; key: string }>({
    name: 'partitioned',
    text: `select p.partrelid::regclass::text as name, a.attname as key from pg_partitioned_table p
             join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]`,
  })
  keys = new Map(rows.map(row => [row.name, row.key]))
})
afterAll(() => database.drop())

/**
 * The partition choices that PostgreSQL 18 makes at execution time in a statement that may find a row
 * changed by others: it then chooses the wrong partitions, or reads memory that it has freed.
 */
function wrongChoices(statement: string, partitioned: Keys): string[] {
  const text = withoutComments(statement)
  if (!LOCKS.test(text) && !WRITES.test(text)) return []
  const names = [...partitioned.keys()].join('|')
  const uses = text.matchAll(
    new RegExp(`(?:from|join|update|using|,)\\s+(${names})\\s+(?:as\\s+)?(\\w+)`, 'g'),
  )
  return [...uses].flatMap(([, name, alias]) => {
    const key = `${alias}\\.${partitioned.get(name!)}`
    const bounded = new RegExp(`in_months\\(${key}\\b`).test(text)
    const byColumn = new RegExp(`${key} = \\w+\\.\\w+|\\w+\\.\\w+ = ${key}\\b`).exec(text)
    return byColumn !== null && (LOCKS.test(text) || bounded) ? [byColumn[0]] : []
  })
}

test('no statement that may find a changed row prunes partitions at execution time', () => {
  const statements = [...functionStatements(), ...sourceStatements()]
  const wrong = statements.flatMap(({ of, text }) => wrongChoices(text, keys).map(what => `${of}: ${what}`))
  expect(wrong).toEqual([])
})

test.each([
  'select 1 from outbox o join messages m on m.id = o.message_id for update of o',
  'with l as (select id from q for update skip locked) update messages m set a = 1 from l where l.id = m.id',
  'update messages m set a = 1 from i where m.id = i.id and in_months(m.id, p_low, p_high)',
  'delete from bulk_rows r using job where r.job_id = job.id and exists (select 1 from q for no key update)',
])('reports execution-time pruning in: %s', statement => {
  expect(wrongChoices(statement, keys)).toHaveLength(1)
})

test.each([
  'select 1 from messages m where m.id = p_id[n] for update',
  'select 1 from outbox o join messages m on m.id = any (just(o.message_id)) for update of o',
  'update messages m set a = 1 from i where m.id = any (p_id[n:n]) and in_months(m.id, p_low, p_high)',
  'update messages m set a = 1 from i where m.id = i.id',
  'select 1 from i join messages m on m.id = i.id and in_months(m.id, p_low, p_high)',
])('reports nothing for: %s', statement => {
  expect(wrongChoices(statement, keys)).toEqual([])
})
