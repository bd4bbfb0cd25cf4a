import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { InboundMessageView } from '../../src/contract/inbound-message.ts'
import { event, METADATA, signatureOf, wrote } from '../channels/whatsapp-cloud/calls.ts'
import { whatsAppCloudFixture } from '../channels/whatsapp-cloud.exchange.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Got, type Receiver, startReceiver } from '../support/receiver.ts'
import { type Account, admin, ask, createAccount, read, until } from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

const MESSAGES = 60

let dir: string
let database: TestDatabase
let receiver: Receiver
let nodes: [Posthorn, Posthorn]
let account: Account
let path: string

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'posthorn-inbound-kill-'))
  database = await createTestDatabase()
  receiver = await startReceiver()
  const first = await start('1')
  nodes = [first, await start('2')]
  account = await createAccount(first.url, { balance: 1 })
  const { connection } = await admin<{ connection: { id: string } }>(first.url, 'POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'Support',
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor('http://127.0.0.1:9'),
    accountId: account.id,
  })
  path = `/webhooks/whatsapp-cloud/${connection.id}`
  await ask(first.url, '/api/v2/webhooks', {
    method: 'POST',
    headers: { 'x-api-key': account.liveKey },
    body: { url: receiver.url(), events: ['inbound.message'] },
  })
}, 60_000)

afterEach(async () => {
  await Promise.all(nodes.map(node => node.stop()))
  await receiver.close()
  await database.drop()
  rmSync(dir, { recursive: true, force: true })
})

const start = (node: string) =>
  startPosthorn({
    DATABASE_URL: database.url,
    POSTHORN_DATA_DIR: join(dir, node),
    POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })

/** Repeats the call to each node until it gets a 200, as WhatsApp does; both nodes get the same message. */
async function deliver(nth: number): Promise<void> {
  const message = { ...wrote({ type: 'text', text: { body: String(nth) } }), id: `wamid.${nth}` }
  const value = { messaging_product: 'whatsapp', metadata: METADATA, messages: [message] }
  const text = JSON.stringify(event({ field: 'messages', value }))
  const headers = { 'x-hub-signature-256': signatureOf(text) }
  const told = (at: 0 | 1) =>
    until(
      () =>
        fetch(nodes[at].url + path, { method: 'POST', headers, body: text }).then(
          each => each.status,
          () => 0,
        ),
      status => status === 200,
    )
  await Promise.all([told(0), told(1)])
}

const idOf = (got: Got) => (got.body['data'] as InboundMessageView).providerMessageId

test('each message sent to two nodes, one of which is killed, becomes one row and one event', async () => {
  const delivering = Promise.all(Array.from({ length: MESSAGES }, (_, nth) => deliver(nth)))
  await receiver.count(MESSAGES / 4)
  await nodes[0].kill()
  nodes[0] = await start('1')
  await delivering

  const rows = await read<InboundMessageView[]>(nodes[0].url, account, '/api/v2/inbound?limit=500')
  expect(rows.map(each => Number(each.text)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: MESSAGES }, (_, nth) => nth),
  )
  await until(
    async () => new Set(receiver.got.map(idOf)),
    told => told.size === MESSAGES,
  )
  // An event that the killed node delivered and did not record is delivered again under its id.
  const eventIds = Map.groupBy(receiver.got, idOf)
  for (const [id, all] of eventIds) {
    expect(new Set(all.map(each => each.headers['webhook-id'])).size, id).toBe(1)
  }
  const { rows: stored } = await database.db.query<{ n: number }>({
    name: 't_events',
    text: `select count(*)::integer as n from events where type = 'inbound.message'`,
  })
  expect(stored[0]!.n).toBe(MESSAGES)
}, 60_000)
