import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimDeliveries } from '../../../src/core/callbacks/store.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import { createOfficialSenders } from '../../../src/core/senders/official.ts'
import {
  type AccountId,
  type ConnectionId,
  createIds,
  fromUuid,
  type Id,
  toUuid,
} from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { openCallbacks } from '../../support/callbacks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

/** SQL (for events) and code (for lists of messages) give the same name to the official sender of a message. */
const ids = createIds(createFakeClock(), createRandom())
const PLATFORM = fromUuid('acc', '00000000-0000-0000-0000-000000000000')
const OWN = ids.next('acc')
const OTHER = ids.next('acc')

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

async function connect(
  accountId: AccountId,
  identity: { phone: string | null; name: string } | null,
  channel = 'official_chatapp',
): Promise<ConnectionId> {
  const id = ids.next('cnn')
  const at = [toUuid(accountId), toUuid(id)]
  await database.db.query({
    name: 't_connection',
    text: `insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types, send_mode_by_type)
           values ($1, $2, 'whatsapp-cloud', 'Support', array[$3], '{}', 1, 0, '{}', '{}')`,
    values: [...at, channel],
  })
  await database.db.query({
    name: 't_identity',
    text: `insert into official_senders (account_id, connection_id, phone_number, display_name, checked_at, next_check_at)
           values ($1, $2, $3, $4, $5, now())`,
    values: [
      ...at,
      identity?.phone ?? null,
      identity?.name ?? null,
      identity ? new Date().toISOString() : null,
    ],
  })
  return id
}

async function readConnections(): Promise<ConnectionSnapshot[]> {
  const { rows } = await database.db.query<{
    account_id: string
    id: string
    name: string
    channels: string[]
  }>({
    name: 't_connections',
    text: 'select account_id, id, name, channels from connections',
  })
  return rows.map(
    ({ account_id, id, name, channels }) =>
      ({
        accountId: fromUuid('acc', account_id),
        id: fromUuid('cnn', id),
        name,
        channels,
        enabled: true,
        provider: 'whatsapp-cloud',
      }) as unknown as ConnectionSnapshot,
  )
}

async function bySql(connectionId: ConnectionId): Promise<string | null> {
  const { rows } = await database.db.query<{ name: string | null }>({
    name: 't_official_name',
    text: 'select official_name($1, $2) as name',
    values: [toUuid(OWN), toUuid(connectionId)],
  })
  return rows[0]!.name
}

async function byCode(connectionId: ConnectionId): Promise<string | null> {
  const all = await readConnections()
  const connections = {
    forAccount: () => all.filter(each => each.accountId === OWN || each.accountId === PLATFORM),
  }
  const senders = createOfficialSenders({
    db: database.db,
    connections: connections as never,
    sandboxForLive: true,
    applied: () => {},
  })
  return (await senders.namesFor(OWN))(connectionId)
}

test('an event names the official sender of a message that names none', async () => {
  const world = await openCallbacks(database.db)
  const caller = await world.newAccount()
  const accountId = caller.account.id
  const { id } = await world.webhooks.create(caller, { url: 'https://example.com/' })
  const { number: node } = await world.startNode()
  const connectionId = await connect(accountId, { phone: '+15550783883', name: 'Market' })
  const official = async (channel: string, sender: string | null) => {
    const message = await world.newMessage(accountId)
    await database.db.query({
      name: 't_official_message',
      text: 'update messages set channel = $2, sender = $3, connection_id = $4 where id = $1',
      values: [toUuid(message), channel, sender, toUuid(connectionId)],
    })
    await world.happen(accountId, message, 'message.sent')
  }
  await official('official_chatapp', null)
  await official('official_chatapp', '+15550783884')
  await official('int_sms', null)
  await world.clock.advance(1)
  const room = [{ accountId, targetUuid: toUuid(id as Id<'whk'>), limit: 10 }]
  const claimed = await claimDeliveries(database.db, { node, atMs: world.clock.now() }, room)
  expect(claimed.map(({ message }) => message?.sender)).toEqual(['+15550783883', '+15550783884', null])
})

test.each<[string, string | null, () => Promise<ConnectionId>]>([
  ['its phone number', '+15550783881', () => connect(OWN, { phone: '+15550783881', name: 'Market' })],
  [
    'its name at the provider if it has no phone number',
    'Market',
    () => connect(OWN, { phone: null, name: 'Market' }),
  ],
  [
    'the name of its connection if the provider has no name',
    'Support',
    () => connect(OWN, { phone: null, name: '' }),
  ],
  ['the name of its connection before the provider was queried', 'Support', () => connect(OWN, null)],
  [
    'the name at the provider and never the number for the platform’s sender',
    'Posthorn',
    () => connect(PLATFORM, { phone: '+1', name: 'Posthorn' }),
  ],
  [
    '“Platform” for the platform’s sender before the provider was queried',
    'Platform',
    () => connect(PLATFORM, null),
  ],
  [
    'null for a connection of another account',
    null,
    () => connect(OTHER, { phone: '+15550783882', name: 'Theirs' }),
  ],
  [
    'null for a connection of another channel',
    null,
    () => connect(OWN, { phone: '+1', name: 'SMS' }, 'local_sms'),
  ],
  ['null for a connection that does not exist', null, async () => ids.next('cnn')],
])('the name of an official sender, in SQL and in code alike, is %s', async (_, name, make) => {
  const id = await make()
  expect([await bySql(id), await byCode(id)]).toEqual([name, name])
})
