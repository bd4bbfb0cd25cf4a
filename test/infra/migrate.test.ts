import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../src/infra/db.ts'
import { createDatabase } from '../../src/infra/db.ts'
import { migrate } from '../../src/infra/migrate.ts'
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

async function tables(db: Database): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'test_tables',
    text: `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  })
  return rows.map(row => row.name)
}

describe('migrate', () => {
  it('applies in order what is missing, and then nothing', async () => {
    const told: string[] = []
    expect(await migrate(store.db, { directory, onProgress: text => told.push(text) })).toEqual([
      '0001_first.sql',
      '0002_second.sql',
    ])
    expect(told).toEqual(['0001_first.sql', '0002_second.sql'])
    expect(await tables(store.db)).toEqual(['first', 'migrations', 'second'])
    write('0003_third.sql', 'CREATE TABLE third ()')
    expect(await migrate(store.db, { directory })).toEqual(['0003_third.sql'])
    expect(await migrate(store.db, { directory })).toEqual([])
  })

  it('applies our own files to an empty store', async () => {
    const ours = readdirSync(new URL('../../migrations', import.meta.url)).filter(name =>
      name.endsWith('.sql'),
    )
    expect(await migrate(store.db)).toEqual(ours.sort())
  })

  it('lets nodes that start at once apply every file exactly once', async () => {
    const nodes = Array.from({ length: 4 }, () => createDatabase({ connectionString: store.url }))
    const applied = await Promise.all(nodes.map(node => migrate(node, { directory })))
    expect(applied.flat().sort()).toEqual(['0001_first.sql', '0002_second.sql'])
    await Promise.all(nodes.map(node => node.close()))
  })

  it('refuses a store that a newer version migrated', async () => {
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

  it('takes turned line endings for the same file', async () => {
    write('0001_first.sql', 'CREATE TABLE first (id int PRIMARY KEY);\nSELECT 1')
    await migrate(store.db, { directory })
    write('0001_first.sql', 'CREATE TABLE first (id int PRIMARY KEY);\r\nSELECT 1')
    expect(await migrate(store.db, { directory })).toEqual([])
  })

  it('undoes a file that fails and keeps those before it', async () => {
    write('0003_third.sql', 'CREATE TABLE third (); SELECT 1 / 0')
    const refused = migrate(store.db, { directory })
    await expect(refused).rejects.toThrow(Refusal)
    await expect(refused).rejects.toThrow(/0003_third\.sql failed and was undone: division by zero/)
    expect(await tables(store.db)).toEqual(['first', 'migrations', 'second'])
    write('0003_third.sql', 'CREATE TABLE third ()')
    expect(await migrate(store.db, { directory })).toEqual(['0003_third.sql'])
  })

  it.each(['3_short.sql', '0004_gap.sql', '0003-dash.sql'])(
    'refuses to guess the place of %s',
    async name => {
      write(name, 'SELECT 1')
      await expect(migrate(store.db, { directory })).rejects.toThrow(/numbered without a gap/)
    },
  )
})
