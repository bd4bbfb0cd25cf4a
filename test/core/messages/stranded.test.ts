import { afterAll, beforeAll, expect, test } from 'vitest'
import { acceptSends } from '../../../src/core/messages/hot-store.ts'
import { failStranded } from '../../../src/core/messages/withdraw-store.ts'
import { registerNode } from '../../../src/core/outbox/node-store.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, type ConnectionId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { acceptRow } from '../../support/message-rows.ts'

const DAY_MS = 86_400_000
const ids = createIds(systemClock, createRandom())
const accountId: AccountId = ids.next('acc')

let database: TestDatabase
let node: number

beforeAll(async () => {
  database = await createTestDatabase()
  node = await registerNode(database.db, 'stranded', Date.now(), false)
  await database.db.query({
    name: 'stranded_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000, 1000)',
    values: [toUuid(accountId)],
  })
})
afterAll(() => database.drop())

async function schedule(connectionId: ConnectionId, at: number): Promise<MessageId> {
  const id = ids.next('msg')
  const row = acceptRow(
    { accountId, id, connectionId, dueAt: at },
    { status: 'scheduled', scheduledAt: at, owned: false, begun: false },
  )
  await acceptSends(database.db, node, Date.now(), [row], false)
  return id
}

async function statusOf(id: MessageId): Promise<string> {
  const { rows } = await database.db.query<{ status: string }>({
    name: 'stranded_status',
    text: 'select status from messages where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0]!.status
}

async function held(): Promise<number> {
  const { rows } = await database.db.query<{ held: number }>({
    name: 'stranded_held',
    text: 'select held::float8 as held from wallets where account_id = $1',
    values: [toUuid(accountId)],
  })
  return rows[0]!.held
}

test('messages for a removed connection fail and their money is released, even if due tomorrow', async () => {
  const here = ids.next('cnn')
  await database.db.query({
    name: 'stranded_connection',
    text: `insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types,
        send_mode_by_type)
      values ($1, $2, 'http-sms', 'here', '{int_sms}', '{}', 1, 0, '{}', '{}')`,
    values: [toUuid(accountId), toUuid(here)],
  })
  const removed = ids.next('cnn')
  const removedToo = ids.next('cnn')
  const tomorrow = Date.now() + DAY_MS
  const stays = await schedule(here, tomorrow)
  const ends = [
    await schedule(removed, tomorrow),
    await schedule(removedToo, tomorrow),
    await schedule(removedToo, Date.now()),
  ]
  expect(await held()).toBe(40)

  expect(await failStranded(database.db, Date.now(), 100)).toBe(3)

  expect(await Promise.all(ends.map(statusOf))).toEqual(['failed', 'failed', 'failed'])
  expect(await statusOf(stays)).toBe('scheduled')
  expect(await held()).toBe(10)
  expect(await failStranded(database.db, Date.now(), 100)).toBe(0)
})
