import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type Database } from '../../src/infra/db.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { watchQueries } from './unanswered.ts'

let database: TestDatabase
let fresh: Database
beforeAll(async () => {
  database = await createTestDatabase()
  fresh = createDatabase({ connectionString: database.url, poolSize: 1 })
})
afterAll(async () => {
  await fresh.close()
  await database.drop()
})

describe('watchQueries()', () => {
  const query = { name: 't_owed', text: 'select 1 as one' }
  test.each<[string, () => Promise<unknown>]>([
    ['a query, and the connection that it needs', () => fresh.query(query)],
    ['a query over a connection of the pool', () => fresh.query(query)],
    ['one that is refused', () => fresh.query({ name: 't_refused', text: 'select 1 / 0' }).catch(() => {})],
    ['a transaction', () => fresh.transaction(tx => tx.query(query))],
    ['a copy', () => fresh.copy('copy accounts (id) from stdin', Buffer.alloc(0))],
  ])('counts %s until the response arrives', async (_, ask) => {
    const watched = watchQueries(database.url)
    const asked = ask()
    // The pool provides a connection some ticks later; no response can arrive within these ticks.
    for (let ticks = 0; ticks < 10 && watched.count() === 0; ticks++)
      await new Promise(resolve => process.nextTick(resolve))
    expect(watched.count()).toBe(1)
    await asked
    expect(watched.count()).toBe(0)
  })
})
