import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureMonths } from '../../src/core/outbox/month-store.ts'
import { createDatabase, type Database } from '../../src/infra/db.ts'
import { migrate } from '../../src/infra/migrate.ts'
import { createEmptyDatabase, type TestDatabase, UNHURRIED } from '../support/database.ts'

let store: TestDatabase

beforeAll(async () => {
  store = await createEmptyDatabase()
  for (const name of ['ours', 'theirs'])
    await store.db.query({ name: `t_${name}`, text: `create schema ${name}` })
})
afterAll(() => store.drop())

async function install(schemas: string): Promise<Database> {
  const url = new URL(store.url)
  url.searchParams.set('options', `-c search_path=${schemas}`)
  const db = createDatabase({ connectionString: url.href, ...UNHURRIED })
  await migrate(db, { version: '1.0.0' })
  return db
}

/** The tables and functions of a schema. */
async function contents(schema: string): Promise<string[]> {
  const { rows } = await store.db.query<{ name: string }>({
    name: 't_contents',
    text: `select relname::text as name from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p')
           union all select oid::regprocedure::text from pg_proc where pronamespace = $1::regnamespace`,
    values: [schema],
  })
  return rows.map(row => row.name.replaceAll(`${schema}.`, '')).sort()
}

test('a Posthorn with the schema of another in its search_path has tables and functions of its own, and leaves the other its own', async () => {
  const theirs = await install('theirs')
  await ensureMonths(theirs, Date.UTC(2031, 4, 9))
  await theirs.close()
  const before = await contents('theirs')
  const ours = await install('ours,theirs')
  await ensureMonths(ours, Date.UTC(2031, 4, 9))
  await ours.close()
  expect(await contents('theirs')).toEqual(before)
  expect(await contents('ours')).toEqual(before)
})
