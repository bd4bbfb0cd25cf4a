import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import type { SendResult } from '../../src/contract/send.ts'
import type { LedgerEntry } from '../../src/contract/wallet.ts'
import { graphError, whatsAppCloudFixture } from '../channels/whatsapp-cloud.exchange.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { type Account, admin, createAccount, read, send, sendUntilSent, until } from './support/client.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

/**
 * The chat app rejects every message, and SMS accepts it. The process is killed between two chosen steps of the
 * failover: before a database query arrives, or after it was executed and before its response arrives.
 */
const CHAT_PRICE = 0.05
const SMS_PRICE = 0.01
const BALANCE = 10
const TO = '+12025550199'

let database: TestDatabase
let proxy: DatabaseProxy
let chat: HttpPeer
let smsc: Smsc
let node: Posthorn
let account: Account
let cases = 0

beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  chat = await startHttpPeer(() => graphError(400, 131026))
  smsc = await startSmsc('accept')
  node = await startNode()
  const row = (channel: string, price: number) => ({ channel, country: '*', price, currency: 'USD' })
  await admin(node.url, 'PUT', '/prices', {
    prices: [row('official_chatapp', CHAT_PRICE), row('local_sms', SMS_PRICE)],
  })
  await admin(node.url, 'POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'chat',
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor(chat.url),
    priorityOrder: 1,
    // No 24-hour window.
    sendModeByType: { free_text: 'plain_text' },
  })
  await admin(node.url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: smsc.port, systemId: 'posthorn', password: 'secret' },
  })
}, 60_000)
afterAll(async () => {
  await node.stop()
  await proxy.close()
  await chat.close()
  await smsc.close()
  await database.drop()
})

beforeEach(async () => {
  cases++
  account = await createAccount(node.url, { balance: BALANCE })
  const body = { to: TO, channel: 'local_sms', text: `hello ${cases}` }
  await sendUntilSent(node.url, { account, key: 'hello', body })
})
afterEach(() => node.checkAlive())

function startNode(): Promise<Posthorn> {
  return startPosthorn({ DATABASE_URL: proxy.url, POSTHORN_DB_POOL: '4', POSTHORN_SANDBOX: 'off' })
}

/** Kills the node when the query or response is lost, and starts the next one after the dead one's lease has ended. */
async function killWhen(lost: Promise<void>): Promise<void> {
  await lost
  await node.kill()
  await database.db.query({ name: 'lease_is_over', text: `update nodes set seen_at = '-infinity'` })
  node = await startNode()
}

const sendMoving = () => send(node.url, { account, key: 'moving', body: { to: TO, text: `moving ${cases}` } })

const definite = () =>
  until(sendMoving, answer => answer !== null && answer.status !== 409 && answer.status < 500)

async function settled(): Promise<MessageWithTimeline> {
  const answer = await definite()
  const { messageId } = (JSON.parse(answer!.text) as SendResult).tracking
  return until(
    () => read<MessageWithTimeline>(node.url, account, `/api/v2/messages/${messageId}`),
    message => ['sent', 'unknown', 'failed'].includes(message.status),
  )
}

const takenBySms = () => smsc.submits.filter(submit => submit.text === `moving ${cases}`).length
const askedOfChat = () => chat.requests.filter(request => request.body.includes(`moving ${cases}"`)).length

/** Expects these amounts in the wallet, and a ledger that agrees with it. */
async function expectMoney(held: number, captured: number): Promise<void> {
  const wallet = await read<Record<'balance' | 'held' | 'captured', number>>(
    node.url,
    account,
    '/api/v2/wallet',
  )
  expect(wallet.held).toBeCloseTo(held, 6)
  expect(wallet.captured).toBeCloseTo(captured + SMS_PRICE, 6)
  expect(wallet.balance + wallet.held + wallet.captured).toBeCloseTo(BALANCE, 6)
  const ledger = await read<LedgerEntry[]>(node.url, account, '/api/v2/wallet/ledger?limit=500')
  const sum = (type: string) =>
    ledger.filter(entry => entry.type === type).reduce((total, entry) => total + entry.amount, 0)
  expect(sum('hold') - sum('capture') - sum('release')).toBeCloseTo(wallet.held, 6)
  expect(sum('credit') - sum('hold') + sum('release')).toBeCloseTo(wallet.balance, 6)
}

describe('a failover', { timeout: 60_000 }, () => {
  test.each([
    ['the move of the message', 'before', 'fail_over', 'unknown', 'official_chatapp', 0],
    ['the move of the message', 'after', 'fail_over', 'sent', 'local_sms', 1],
    ['the recording of its second attempt', 'before', 'begin_attempts', 'sent', 'local_sms', 1],
    ['the recording of its second attempt', 'after', 'begin_attempts', 'unknown', 'local_sms', 0],
    ['the storing of its second outcome', 'before', 'settle_attempts', 'unknown', 'local_sms', 1],
    ['the storing of its second outcome', 'after', 'settle_attempts', 'sent', 'local_sms', 1],
  ] as const)(
    'whose node is killed at %s, %s the query (%s), submits at most once over each connection',
    async (_, when, step, status, channel, taken) => {
      const lost = proxy.loseAt(step, when)
      const first = sendMoving()
      await killWhen(lost)
      expect(await first).toBeNull()

      const message = await settled()
      expect(message).toMatchObject({ status, channel, channels: ['official_chatapp', 'local_sms'] })
      expect([askedOfChat(), takenBySms()]).toEqual([1, taken])
      const price = channel === 'local_sms' ? SMS_PRICE : CHAT_PRICE
      expect(message.billing).toMatchObject({ cost: price, state: status === 'sent' ? 'captured' : 'held' })
      await expectMoney(status === 'sent' ? 0 : price, status === 'sent' ? price : 0)

      const answers = [await definite(), await definite()]
      expect(answers[0]!.replayed).toBe(true)
      expect(answers[1]!.text).toBe(answers[0]!.text)
      expect([askedOfChat(), takenBySms()]).toEqual([1, taken])
    },
  )

  test.each(['before', 'after'] as const)(
    'whose database query is lost %s it was executed sends over the next connection, once',
    async when => {
      const lost = proxy.loseAt('fail_over', when)
      const [answer] = await Promise.all([definite(), lost])
      const message = await settled()
      expect(message).toMatchObject({ status: 'sent', channel: 'local_sms', attempts: 2 })
      expect([askedOfChat(), takenBySms()]).toEqual([1, 1])
      await expectMoney(0, SMS_PRICE)
      expect((await definite())!.text).toBe(answer!.text)
    },
  )
})
