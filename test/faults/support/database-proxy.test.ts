import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, DatabaseUnavailable } from '../../../src/infra/db.ts'
import { createNewerSchemaCheck } from '../../../src/infra/newer-schema.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { startDatabaseProxy } from './database-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('loseAt() matches a query that calls the function, and not the check for a newer schema', async () => {
  const proxy = await startDatabaseProxy(database.url)
  const db = createDatabase({ connectionString: proxy.url, poolSize: 1 })
  let wasLost = false
  const lost = proxy.loseAt('begin_attempts', 'after').then(() => {
    wasLost = true
  })
  expect(await createNewerSchemaCheck(db)()).toBeNull()
  expect(wasLost).toBe(false)

  const asked = db.query({ name: 'begin_attempts', text: 'select 1' }).catch(error => error)
  await lost
  await db.close()
  await proxy.close()
  expect(await asked).toBeInstanceOf(DatabaseUnavailable)
})
