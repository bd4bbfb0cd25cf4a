import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkMasterKey } from '../../src/core/master-key.ts'
import { createSeal } from '../../src/infra/seal.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const random = createRandom()
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('the first master key is recorded, and another one is rejected', async () => {
  const ours = createSeal(Buffer.alloc(32, 1), random)
  const other = createSeal(Buffer.alloc(32, 2), random)
  await checkMasterKey(database.db, ours)
  await checkMasterKey(database.db, ours)
  await expect(checkMasterKey(database.db, other)).rejects.toThrow(/another master key/)
})

test('when two nodes start at once with different master keys, one is rejected', async () => {
  const fresh = await createTestDatabase()
  const checks = [3, 4].map(byte => checkMasterKey(fresh.db, createSeal(Buffer.alloc(32, byte), random)))
  const outcomes = (await Promise.allSettled(checks)).map(check => check.status)
  await fresh.drop()
  expect(outcomes.sort()).toEqual(['fulfilled', 'rejected'])
})
