import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Message } from '../../src/contract/message.ts'
import type { DeliveryView } from '../../src/contract/webhook.ts'
import { type Got, type Receiver, startReceiver, verify } from '../support/receiver.ts'
import { type Account, ask, createAccount, read, send, until } from './support/client.ts'
import { findEmbedded, type Posthorn, startPosthorn } from './support/posthorn.ts'
import { createDice } from './support/random.ts'

/** Printed with every failure. */
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261_121)
const KILLS = 3
/** With two events each, they fit one page of the list. */
const MESSAGES = 60
const EVENTS = ['message.sent', 'message.delivered']

let dir: string
let receiver: Receiver
let server: Posthorn

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'posthorn-callbacks-'))
  receiver = await startReceiver()
  server = await start()
}, 60_000)

afterEach(async () => {
  await server.stop()
  const left = findEmbedded(join(dir, 'data'))
  if (left) process.kill(left.pid, 'SIGKILL')
  await receiver.close()
  rmSync(dir, { recursive: true, force: true })
})

function start(): Promise<Posthorn> {
  return startPosthorn({
    POSTHORN_DATA_DIR: join(dir, 'data'),
    POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
}

async function createWebhook(account: Account): Promise<{ id: string; secret: string }> {
  const answer = await ask(server.url, '/api/v2/webhooks', {
    method: 'POST',
    headers: { 'x-api-key': account.liveKey },
    body: { url: receiver.url('/hook'), events: EVENTS },
  })
  return (JSON.parse(answer!.text) as { data: { webhook: { id: string; secret: string } } }).data.webhook
}

/** Repeats the send with its key until it gets a 200, also while the server is killed. */
async function sendFor(account: Account, number: number): Promise<void> {
  const body = { to: `+1202555${1_000 + number}`, channel: 'local_sms', content: { text: 'Hello' } }
  await until(
    () => send(server.url, { account, key: `key-${number}`, body }),
    answer => answer?.status === 200,
  )
}

const idOf = (got: Got) => got.headers['webhook-id'] as string
const messageOf = (got: Got) => (got.body['data'] as { messageId: string }).messageId

/** Sends a share of the messages, and kills the server when the receiver got half as many requests, some without a response. */
async function sendAndKill(account: Account, from: number, to: number): Promise<void> {
  const sending = Promise.all(Array.from({ length: to - from }, (_, at) => sendFor(account, from + at)))
  await receiver.count(receiver.got.length + (to - from) / 2)
  await server.kill()
  server = await start()
  await sending
}

test('a server that is killed while it delivers webhooks delivers every event, in order, under one id', async () => {
  const dice = createDice(SEED)
  const account = await createAccount(server.url, { balance: 100 })
  const { id, secret } = await createWebhook(account)
  receiver.react(() => (dice.roll(3) === 0 ? 'silence' : 200))
  for (let kill = 0; kill < KILLS; kill++) {
    if (kill === KILLS - 1) receiver.react(got => (idOf(got).endsWith('a') ? 'cut' : 200))
    await sendAndKill(account, (kill * MESSAGES) / KILLS, ((kill + 1) * MESSAGES) / KILLS)
  }
  receiver.react(200)

  await until(
    () => read<Message[]>(server.url, account, '/api/v2/messages?limit=500'),
    all => all.length === MESSAGES && all.every(({ status }) => ['delivered', 'unknown'].includes(status)),
  )
  const deliveries = await until(
    () => read<DeliveryView[]>(server.url, account, `/api/v2/webhooks/${id}/deliveries?limit=500`),
    all => all.every(({ status }) => status === 'delivered'),
  )
  const taken = receiver.got.filter(({ status }) => status === 200)
  expect(new Set(taken.map(idOf)), `seed ${SEED}`).toEqual(new Set(deliveries.map(({ eventId }) => eventId)))
  const stories = Map.groupBy(taken, messageOf)
  for (const [message, all] of stories) {
    const types = [...new Set(all.map(({ body }) => body['type']))]
    expect(types, `${message}, seed ${SEED}`).toEqual(EVENTS.filter(type => types.includes(type)))
  }
  // A message that was being submitted when a kill came stays unknown, and lacks events.
  const whole = [...stories.values()].filter(all => new Set(all.map(idOf)).size === EVENTS.length)
  expect(whole.length).toBeGreaterThan(MESSAGES / 2)
  for (const got of receiver.got) {
    verify(got, secret, Number(got.headers['webhook-timestamp']) * 1_000)
    expect(got.body['id']).toBe(idOf(got))
  }
  // Repeated requests show that kills met requests under way.
  expect(receiver.got.length).toBeGreaterThan(new Set(receiver.got.map(idOf)).size)
}, 120_000)
