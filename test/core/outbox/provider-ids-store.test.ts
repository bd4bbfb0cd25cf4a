import { afterAll, beforeAll, expect, test } from 'vitest'
import { selectProviderIds } from '../../../src/core/outbox/provider-ids-store.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const ids = createIds(systemClock, createRandom())

async function store(connectionId: `cnn_${string}`, providerIds: readonly string[]): Promise<void> {
  await database.db.query({
    name: 'put_provider_ids',
    text: `insert into provider_refs (connection_id, provider_id, account_id, message_id)
           select $1, id, $2, $2 from unnest($3::text[]) as id`,
    values: [toUuid(connectionId), toUuid(ids.next('msg')), providerIds],
  })
}

test('reads the highest 200 ids of one connection, the highest first', async () => {
  const [one, other] = [ids.next('cnn'), ids.next('cnn')]
  const stored = Array.from({ length: 250 }, (_, at) => (0xa100 + at).toString(16).toUpperCase())
  await store(one, stored)
  await store(other, ['FFFF'])
  expect(await selectProviderIds(database.db, one)).toEqual(stored.toReversed().slice(0, 200))
  expect(await selectProviderIds(database.db, other)).toEqual(['FFFF'])
  expect(await selectProviderIds(database.db, ids.next('cnn'))).toEqual([])
})
