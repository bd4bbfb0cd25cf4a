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

test('returns null for a database that this program migrated', async () => {
  expect(await look()).toBeNull()
})

test('returns the name of an unknown numbered file', async () => {
  await note('t_file', `insert into migrations (name, checksum) values ('9999_of_tomorrow.sql', '')`)
  expect(await look()).toBe('9999_of_tomorrow.sql')
})

test('returns the name of a changed function, and ignores unknown functions', async () => {
  await note(
    't_function',
    `insert into migration_functions (name, checksum, version) values ('of_tomorrow.sql', '', '9.0.0')`,
  )
  expect(await look()).toBeNull()
  await note('t_form', `update migration_functions set checksum = '' where name = 'claim_due.sql'`)
  expect(await look()).toBe('functions/claim_due.sql')
})
