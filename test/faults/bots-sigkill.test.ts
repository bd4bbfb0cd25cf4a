import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BotView, SubscriberPage } from '../../src/contract/bot.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTelegram, type Telegram } from '../support/telegram.ts'
import { type Account, admin, ask, createAccount, read, until } from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

const PEOPLE = 20
const MESSAGES_EACH = 4

let telegram: Telegram
let database: TestDatabase
let receiver: Receiver
const nodes: Posthorn[] = []

beforeEach(async () => {
  telegram = await startTelegram()
  database = await createTestDatabase()
  receiver = await startReceiver()
  await addNode()
}, 60_000)

afterEach(async () => {
  await Promise.all(nodes.splice(0).map(node => node.stop()))
  await telegram.close()
  await receiver.close()
  await database.drop()
})

async function addNode(): Promise<Posthorn> {
  const node = await startPosthorn({
    DATABASE_URL: database.url,
    POSTHORN_DB_POOL: '4',
    POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
  nodes.push(node)
  return node
}

async function call<T>(node: Posthorn, account: Account, path: string, body: unknown): Promise<T> {
  const headers = { 'x-api-key': account.liveKey }
  const answer = await ask(node.url, path, { method: 'POST', headers, body })
  if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
  return (JSON.parse(answer.text) as { data: T }).data
}

async function count(name: string, text: string): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({ name, text })
  return rows[0]!.n
}

const stored = () => count('stored', 'select count(*)::integer as n from inbound_messages')

/** Each person sends their messages from number `from` to before `to`; number 0 starts the bot. */
async function sendMessages(from: number, to: number): Promise<void> {
  for (let word = from; word < to; word++) {
    for (let person = 0; person < PEOPLE; person++) {
      await telegram.say(10_000 + person, word === 0 ? `/start from-${person}` : `word ${word}`)
    }
  }
}

test('killing the node that polls a bot loses no update and stores none twice', async () => {
  const [first] = nodes as [Posthorn]
  const account = await createAccount(first.url, { balance: 1 })
  await admin(first.url, 'POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
  const hook = { url: receiver.url('/hook'), events: ['bot.subscriber.started', 'inbound.message'] }
  await call(first, account, '/api/v2/webhooks', hook)
  const { bot } = await call<{ bot: BotView }>(first, account, '/api/v2/botapp-bots', {
    token: telegram.token,
  })
  // The first node holds the bot, since it is alone; the second one starts later, to take over.
  await until(
    () => count('held', 'select count(*)::integer as n from bot_feeds where node is not null'),
    n => n === 1,
  )
  const second = await addNode()

  const sending = sendMessages(0, MESSAGES_EACH)
  await until(stored, n => n >= PEOPLE / 2)
  await first.kill()
  nodes.splice(0, 1)
  await sending
  expect(await stored()).toBeLessThan(PEOPLE * MESSAGES_EACH)

  await until(stored, n => n >= PEOPLE * MESSAGES_EACH)
  // Once this update is stored, those that the platform sent twice have been stored too.
  await telegram.say(10_000, 'the last word')
  await until(stored, n => n >= PEOPLE * MESSAGES_EACH + 1)
  expect(await stored()).toBe(PEOPLE * MESSAGES_EACH + 1)
  expect(
    await count('different', 'select count(distinct provider_id)::integer as n from inbound_messages'),
  ).toBe(PEOPLE * MESSAGES_EACH + 1)
  const told = (type: string) =>
    count(`told ${type}`, `select count(*)::integer as n from events where type = '${type}'`)
  expect(await told('bot.subscriber.started')).toBe(PEOPLE)
  expect(await told('inbound.message')).toBe(PEOPLE * MESSAGES_EACH + 1)
  const page = await read<SubscriberPage['data']>(
    second.url,
    account,
    `/api/v2/botapp-bots/${bot.id}/subscribers`,
  )
  expect(page).toMatchObject({ total: PEOPLE })
  expect(page.subscribers.map(({ startPayload }) => startPayload).sort()).toEqual(
    Array.from({ length: PEOPLE }, (_, person) => `from-${person}`).sort(),
  )
}, 90_000)
