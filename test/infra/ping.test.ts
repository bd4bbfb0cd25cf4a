import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../src/infra/db.ts'
import { ping } from '../../src/infra/ping.ts'
import { createTestDatabase, type TestDatabase, UNHURRIED } from '../support/database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('a database that answers and takes writes is there', async () => {
  await expect(ping(database.db)).resolves.toBeUndefined()
})

test('one that only reads, such as a standby, is not: every send over it would fail', async () => {
  const url = new URL(database.url)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const reading = createDatabase({ connectionString: url.href, ...UNHURRIED })
  try {
    await expect(ping(reading)).rejects.toThrow('read-only')
  } finally {
    await reading.close()
  }
})
