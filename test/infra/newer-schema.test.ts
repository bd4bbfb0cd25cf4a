import { afterEach, beforeEach, expect, test } from 'vitest'
import { createNewerSchemaCheck } from '../../src/infra/newer-schema.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let look: () => Promise<string | null>

beforeEach(async () => {
  database = await createTestDatabase()
  look = createNewerSchemaCheck(database.db)
})
afterEach(() => database.drop())

async function note(name: string, text: string): Promise<void> {
  await database.db.query({ name, text })
}

test('finds nothing in a store that this program migrated', async () => {
  expect(await look()).toBeNull()
})

test('finds a numbered file that is unknown here', async () => {
  await note('t_file', `insert into migrations (name, checksum) values ('9999_of_tomorrow.sql', '')`)
  expect(await look()).toBe('9999_of_tomorrow.sql')
})

test('finds a function in another form, and minds none that is not called here', async () => {
  await note(
    't_function',
    `insert into migration_functions (name, checksum, version) values ('of_tomorrow.sql', '', '9.0.0')`,
  )
  expect(await look()).toBeNull()
  await note('t_form', `update migration_functions set checksum = '' where name = 'claim_due.sql'`)
  expect(await look()).toBe('functions/claim_due.sql')
})
