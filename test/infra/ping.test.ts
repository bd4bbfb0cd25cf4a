import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../src/infra/db.ts'
import { ping } from '../../src/infra/ping.ts'
import { createTestDatabase, type TestDatabase, UNHURRIED } from '../support/database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('succeeds for a database that answers and accepts writes', async () => {
  await expect(ping(database.db)).resolves.toBeUndefined()
})

test('fails for a read-only database, such as a standby, where every send would fail', async () => {
  const url = new URL(database.url)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const reading = createDatabase({ connectionString: url.href, ...UNHURRIED })
  try {
    await expect(ping(reading)).rejects.toThrow('read-only')
  } finally {
    await reading.close()
  }
})
