import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../src/infra/db.ts'
import { createDatabase } from '../../src/infra/db.ts'
import { type MigrateOptions, migrate as migrateAs } from '../../src/infra/migrate.ts'
import { Refusal } from '../../src/lib/refusal.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'

let store: TestDatabase
let directory: string

beforeEach(async () => {
  store = await createEmptyDatabase()
  directory = mkdtempSync(join(tmpdir(), 'posthorn-migrations-'))
  write('0001_first.sql', 'CREATE TABLE first (id int PRIMARY KEY)')
  write('0002_second.sql', 'CREATE TABLE second (id int REFERENCES first); INSERT INTO first VALUES (1)')
})

afterEach(async () => {
  await store.drop()
  rmSync(directory, { recursive: true })
})

function write(name: string, text: string): void {
  writeFileSync(join(directory, name), text)
}

/** Every run uses the same program version, unless a test sets another. */
function migrate(db: Database, options: Partial<MigrateOptions> = {}): Promise<string[]> {
  return migrateAs(db, { version: '1.0.0', ...options })
}

async function tables(db: Database): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'test_tables',
    text: `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  })
  return rows.map(row => row.name)
}

describe('migrate', () => {
  it('applies missing files in order, and nothing the second time', async () => {
    const told: string[] = []
    expect(await migrate(store.db, { directory, onProgress: text => told.push(text) })).toEqual([
      '0001_first.sql',
      '0002_second.sql',
    ])
    expect(told).toEqual(['0001_first.sql', '0002_second.sql'])
    expect(await tables(store.db)).toEqual(['first', 'migration_functions', 'migrations', 'second'])
    write('0003_third.sql', 'CREATE TABLE third ()')
    expect(await migrate(store.db, { directory })).toEqual(['0003_third.sql'])
    expect(await migrate(store.db, { directory })).toEqual([])
  })

  it('applies the files of this project to an empty database', async () => {
    const ours = (directory: string) =>
      readdirSync(new URL(`../../${directory}`, import.meta.url))
        .filter(name => name.endsWith('.sql'))
        .sort()
    const functions = ours('migrations/functions').map(name => `functions/${name}`)
    expect(await migrate(store.db)).toEqual([...ours('migrations'), ...functions])
  })

  it('fills a schema whose name needs quotes', async () => {
    await store.db.query({ name: 'test_schema', text: `CREATE SCHEMA "Our ""Messages"""` })
    const url = new URL(store.url)
    url.searchParams.set('options', '-c search_path="Our\\ ""Messages"""')
    const database = createDatabase({ connectionString: url.href })
    mkdirSync(join(directory, 'functions'))
    write('functions/one.sql', 'CREATE FUNCTION one() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$')
    const applied = migrate(database, { directory }).finally(() => database.close())
    expect(await applied).toContain('functions/one.sql')
    expect(await tables(store.db)).toEqual([])
  })

  it.each([
    [
      'default_transaction_read_only=on',
      /in a read-only transaction: name the server that takes writes, or lift default_transaction_read_only\.$/,
    ],
    ['search_path=pg_catalog', /permission denied .*: let the role create tables in its database/],
    ['search_path=nowhere', /no schema has been selected .*: let the role create tables in its database/],
  ])('explains how to fix a database where it cannot create tables: %s', async (setting, sentence) => {
    const url = new URL(store.url)
    url.searchParams.set('options', `-c ${setting}`)
    const database = createDatabase({ connectionString: url.href })
    const refused = migrate(database, { directory })
    await expect(refused).rejects.toThrow(Refusal)
    await expect(refused).rejects.toThrow(sentence)
    await database.close()
  })

  it('refuses a proxy with transaction pooling, which would lose notifications', async () => {
    const shared = await store.db.dedicated()
    const end = shared.end.bind(shared)
    shared.end = async () => {}
    const refused = migrate({ ...store.db, dedicated: async () => shared }, { directory })
    await expect(refused).rejects.toThrow(Refusal)
    await expect(refused).rejects.toThrow(
      /uses transaction pooling, which Posthorn does not support: set DATABASE_URL to the server itself/,
    )
    expect(await tables(store.db)).toEqual([])
    await end()
  })

  it('refuses a proxy that drops the session settings, and names the role settings to change', async () => {
    const dedicated = async () => {
      const client = await store.db.dedicated()
      await client.query(`set timezone to 'Europe/Berlin'; set datestyle to 'German'`)
      return client
    }
    const refused = migrate({ ...store.db, dedicated }, { directory })
    await expect(refused).rejects.toThrow(Refusal)
    await expect(refused).rejects.toThrow(
      /on the role, and have the proxy open new connections, .*: ALTER ROLE \S+ SET DateStyle = 'ISO'; ALTER ROLE \S+ SET TimeZone = 'UTC'\.$/,
    )
    expect(await tables(store.db)).toEqual([])
  })

  it('disables the transaction timeout of the database while it runs', async ({ skip }) => {
    const { pathname } = new URL(store.url)
    const set = { name: '', text: `alter database ${pathname.slice(1)} set transaction_timeout to '1min'` }
    await store.db.query(set).catch(() => skip('PostgreSQL 17 brought it'))
    // The setting is read, not waited for: a timeout short enough to wait for would hit other statements on
    // a slow machine.
    const told = `SELECT current_setting('transaction_timeout') AS cut_after`
    write('0003_slow.sql', `CREATE TABLE slow AS ${told}`)
    const database = createDatabase({ connectionString: store.url })
    try {
      expect((await database.query({ name: '', text: told })).rows).toEqual([{ cut_after: '1min' }])
      await migrate(database, { directory })
      const { rows } = await database.query({ name: '', text: 'SELECT cut_after FROM slow' })
      expect(rows).toEqual([{ cut_after: '0' }])
    } finally {
      await database.close()
    }
  })

  async function inEncoding(encoding: string, work: (database: Database) => Promise<void>): Promise<void> {
    const url = new URL(store.url)
    url.pathname = `${url.pathname}_${encoding.toLowerCase()}`
    const name = url.pathname.slice(1)
    await store.db.query({
      name: '',
      text: `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`,
    })
    const database = createDatabase({ connectionString: url.href })
    try {
      await work(database)
    } finally {
      await database.close()
      await store.db.query({ name: '', text: `DROP DATABASE ${name} WITH (FORCE)` })
    }
  }

  it('refuses a database whose encoding cannot store all characters', () =>
    inEncoding('LATIN1', async database => {
      const refused = migrate(database, { directory })
      await expect(refused).rejects.toThrow(Refusal)
      await expect(refused).rejects.toThrow('the encoding LATIN1; Posthorn needs UTF8')
      expect(await tables(database)).toEqual([])
    }))

  it('accepts the encoding SQL_ASCII, which stores and returns text unchanged', () =>
    inEncoding('SQL_ASCII', async database => {
      expect(await migrate(database)).toHaveLength((await migrate(store.db)).length)
      const text = 'Grüße, 你好 🎉'
      const { rows } = await database.query<{ said: string; inside: string }>({
        name: '',
        text: `select $1::text as said, $2::jsonb ->> 'said' as inside`,
        values: [text, JSON.stringify({ said: text })],
      })
      expect(rows[0]).toEqual({ said: text, inside: text })
    }))

  it('applies every file exactly once when nodes start at the same time', async () => {
    const nodes = Array.from({ length: 4 }, () => createDatabase({ connectionString: store.url }))
    const applied = await Promise.all(nodes.map(node => migrate(node, { directory })))
    expect(applied.flat().sort()).toEqual(['0001_first.sql', '0002_second.sql'])
    await Promise.all(nodes.map(node => node.close()))
  })

  it('refuses a database that a newer version migrated', async () => {
    await migrate(store.db, { directory })
    rmSync(join(directory, '0002_second.sql'))
    await expect(migrate(store.db, { directory })).rejects.toThrow(
      /newer Posthorn \(it has 0002_second\.sql\)/,
    )
  })

  it('refuses a file that changed after it was applied', async () => {
    await migrate(store.db, { directory })
    appendFileSync(join(directory, '0001_first.sql'), '\n-- a word more')
    await expect(migrate(store.db, { directory })).rejects.toThrow(/0001_first\.sql differs/)
  })

  it('ignores a change of line endings', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int PRIMARY KEY);\nSELECT 1')
    await migrate(store.db, { directory })
    write('0001_first.sql', 'CREATE TABLE first (id int PRIMARY KEY);\r\nSELECT 1')
    expect(await migrate(store.db, { directory })).toEqual([])
  })

  it('rolls back a file that fails and keeps the ones before it', async () => {
    write('0003_third.sql', 'CREATE TABLE third (); SELECT 1 / 0')
    const refused = migrate(store.db, { directory })
    await expect(refused).rejects.toThrow(Refusal)
    await expect(refused).rejects.toThrow(/0003_third\.sql failed and was rolled back: division by zero/)
    expect(await tables(store.db)).toEqual(['first', 'migrations', 'second'])
    write('0003_third.sql', 'CREATE TABLE third ()')
    expect(await migrate(store.db, { directory })).toEqual(['0003_third.sql'])
  })

  it.each(['3_short.sql', '0004_gap.sql', '0003-dash.sql'])(
    'refuses the file name %s, whose place in the order is unclear',
    async name => {
      write(name, 'SELECT 1')
      await expect(migrate(store.db, { directory })).rejects.toThrow(/numbered without a gap/)
    },
  )
})

describe('function files', () => {
  beforeEach(() => {
    mkdirSync(join(directory, 'functions'))
    writeFunction('one', 'select 1')
    writeFunction('two', 'select 2')
  })

  function writeFunction(name: string, body: string, returns = 'integer'): void {
    write(
      `functions/${name}.sql`,
      `drop function if exists ${name};\ncreate function ${name}() returns ${returns} language sql as $$ ${body} $$;`,
    )
  }

  async function call(name: string): Promise<unknown> {
    const { rows } = await store.db.query<{ result: unknown }>({
      name: `test_${name}`,
      text: `select ${name}() as result`,
    })
    return rows[0]!.result
  }

  it('are applied after the numbered files, and again only when they change', async () => {
    const told: string[] = []
    await migrate(store.db, { directory, onProgress: text => told.push(text) })
    expect(told).toEqual(['0001_first.sql', '0002_second.sql', 'functions/one.sql', 'functions/two.sql'])
    writeFunction('one', 'select 11')
    expect(await migrate(store.db, { directory })).toEqual(['functions/one.sql'])
    expect([await call('one'), await call('two')]).toEqual([11, 2])
    expect(await migrate(store.db, { directory })).toEqual([])
  })

  it('may change the return type, and call a function of a later file', async () => {
    await migrate(store.db, { directory })
    writeFunction('one', "select 'n' || three()", 'text')
    writeFunction('three', 'select 3')
    expect(await migrate(store.db, { directory })).toEqual(['functions/one.sql', 'functions/three.sql'])
    expect(await call('one')).toBe('n3')
  })

  it('are applied once when nodes start at the same time', async () => {
    await migrate(store.db, { directory })
    writeFunction('one', 'select 11')
    const nodes = [1, 2].map(() => createDatabase({ connectionString: store.url }))
    const applied = await Promise.all(nodes.map(node => migrate(node, { directory })))
    expect(applied.flat()).toEqual(['functions/one.sql'])
    await Promise.all(nodes.map(node => node.close()))
  })

  it('are all rolled back when one of them fails', async () => {
    await migrate(store.db, { directory })
    writeFunction('one', 'select 11')
    writeFunction('two', 'select missing from nowhere')
    const refused = migrate(store.db, { directory })
    await expect(refused).rejects.toThrow(Refusal)
    await expect(refused).rejects.toThrow(
      /functions\/two\.sql failed and was rolled back: .*"nowhere" does not exist/,
    )
    expect([await call('one'), await call('two')]).toEqual([1, 2])
  })

  it('are not replaced by an older version of the program', async () => {
    await migrate(store.db, { directory, version: '1.9.0' })
    await migrate(store.db, { directory, version: '1.8.0' })
    writeFunction('two', 'select 22')
    await migrate(store.db, { directory, version: '1.10.0' })
    writeFunction('two', 'select 2')
    await expect(migrate(store.db, { directory, version: '1.9.0' })).rejects.toThrow(
      /newer Posthorn \(functions\/two\.sql is from 1\.10\.0\)/,
    )
    expect(await call('two')).toBe(22)
  })

  it('must each create exactly the function that the file is named after', async () => {
    write('functions/four.sql', 'create function five() returns integer language sql as $$ select 5 $$')
    await expect(migrate(store.db, { directory })).rejects.toThrow(
      /functions\/four\.sql failed and was rolled back: the file must create exactly the function/,
    )
  })
})
