import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimValidations } from '../../../src/core/bulk/validate-store.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const NODE = 7
const ids = createIds(createFakeClock(Date.UTC(2026, 3, 1)), createRandom())
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** A job of a million rows that is being validated. */
async function addJob(node: number | null, validated: number) {
  const id = ids.next('job')
  await database.db.query({
    name: 't_job',
    text: `insert into bulk_jobs (account_id, id, live, key_id, status, total, node, validated)
           values ($1, $2, true, $1, 'validating', 1000000, $3, $4)`,
    values: [toUuid(ids.next('acc')), toUuid(id), node, validated],
  })
  return id
}

test('a new job is claimed although the node has long jobs, and then those that are least far', async () => {
  const far = await addJob(NODE, 30_000)
  const lessFar = await addJob(NODE, 20_000)
  const fresh = await addJob(null, 0)
  const claim = async (limit: number) =>
    new Set((await claimValidations(database.db, NODE, limit)).map(job => job.id))
  expect(await claim(2)).toEqual(new Set([fresh, lessFar]))
  expect(await claim(9)).toEqual(new Set([fresh, lessFar, far]))
})
