import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeParts } from '../../../src/core/outbox/parts-store.ts'
import { selectProviderIds, selectRecipients } from '../../../src/core/outbox/provider-ids-store.ts'
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

test('reads the recipients of messages of one connection by the ids of them or of their parts', async () => {
  const { db } = database
  const [connection, other] = [ids.next('cnn'), ids.next('cnn')]
  const accountId = ids.next('acc')
  const [whole, long] = [ids.next('msg'), ids.next('msg')]
  await db.query({
    name: 'put_recipients',
    text: `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider, connection_id,
             sender_source, candidates, amount, funding, money)
           select $1, m.id, true, 'sent', 'local_sms', 'utility', m.recipient, 'smpp', $2, 'platform', 'local_sms', 1,
             'wallet', 'captured'
             from unnest($3::uuid[], $4::text[]) as m (id, recipient)`,
    values: [toUuid(accountId), toUuid(connection), [whole, long].map(toUuid), ['+491', '+492']],
  })
  await db.query({
    name: 'put_refs',
    text: `insert into provider_refs (connection_id, provider_id, account_id, message_id)
           select $1, r.provider_id, $2, r.id from unnest($3::text[], $4::uuid[]) as r (provider_id, id)`,
    values: [toUuid(connection), toUuid(accountId), ['A', 'B,C'], [whole, long].map(toUuid)],
  })
  await storeParts(db, 0, [{ connectionId: connection, wholeId: 'B,C', partIds: ['B', 'C'], total: 2 }])
  expect([...(await selectRecipients(db, connection, ['A', 'B', 'C', 'B,C', 'D']))].sort()).toEqual([
    ['A', '+491'],
    ['B', '+492'],
    ['B,C', '+492'],
    ['C', '+492'],
  ])
  expect(await selectRecipients(db, other, ['A', 'B'])).toEqual(new Map())
})
