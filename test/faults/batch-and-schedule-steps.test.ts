import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../src/contract/message.ts'
import type { BatchResult } from '../../src/contract/send.ts'
import { type AccountId, type MessageId, toUuid } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { type Account, admin, createAccount, read, send, sendUntilSent, until } from './support/client.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

/**
 * The process is killed between two chosen steps: before a database query arrives, or after it was executed and
 * before its response arrives.
 */
const PRICE = 0.0079
const BALANCE = 10

let database: TestDatabase
let proxy: DatabaseProxy
let smsc: Smsc
let node: Posthorn
let account: Account
let cases = 0

beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  smsc = await startSmsc('accept')
  node = await startNode()
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
  await smsc.close()
  await database.drop()
})

beforeEach(async () => {
  cases++
  account = await createAccount(node.url, { balance: BALANCE })
  const body = { to: '+12025550199', text: `hello ${cases}` }
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

const takenOf = (text: string, to: string) =>
  smsc.submits.filter(submit => submit.text === text && `+${submit['destination_addr']}` === to).length

/** The messages that the account sent after its first one, once all are sent or unknown. */
async function settledMessages(): Promise<Message[]> {
  const messages = await until(
    () => read<Message[]>(node.url, account, '/api/v2/messages?limit=500'),
    found => found.every(message => ['sent', 'unknown'].includes(message.status)),
  )
  return messages.filter(message => !message.text!.startsWith('hello'))
}

/** Compares the provider's record, the messages and the wallet, row by row. */
async function compare(messages: readonly Message[]): Promise<void> {
  for (const { status, text, to, billing } of messages) {
    const taken = takenOf(text!, to)
    if (status === 'sent') expect([taken, billing.state]).toEqual([1, 'captured'])
    else expect([taken <= 1, billing.state]).toEqual([true, 'held'])
  }
  const unknown = messages.filter(message => message.status === 'unknown').length
  const wallet = await read<{ held: number; captured: number; balance: number }>(
    node.url,
    account,
    '/api/v2/wallet',
  )
  const paid = messages.length - unknown + 1
  expect(wallet.held).toBeCloseTo(unknown * PRICE, 6)
  expect(wallet.captured).toBeCloseTo(paid * PRICE, 6)
  expect(wallet.balance + wallet.held + wallet.captured).toBeCloseTo(BALANCE, 6)
}

describe('a batch', { timeout: 60_000 }, () => {
  const to = Array.from({ length: 20 }, (_, at) => `+1202555${1100 + at}`)

  async function batch(text: string) {
    const answer = await send(node.url, { account, key: 'batch', body: { to, text } })
    return answer?.status === 200 ? { ...answer, batch: JSON.parse(answer.text) as BatchResult } : null
  }

  test.each([
    ['the claim of its key', 'before', 'claim_for_batch', 0],
    ['the claim of its key', 'after', 'claim_for_batch', 0],
    ['the acceptance of its messages', 'before', 'accept_sends', 0],
    ['the acceptance of its messages', 'after', 'accept_sends', 20],
    ['the storing of its response', 'before', 'finish_batch', 20],
    ['the storing of its response', 'after', 'finish_batch', 20],
  ] as const)(
    'whose node is killed at %s, %s the query (%s), is completed once by a repeat',
    async (_, when, step, storedBefore) => {
      const text = `batch ${cases}`
      const lost = proxy.loseAt(step, when)
      const first = batch(text)
      await killWhen(lost)
      expect(await first).toBeNull()
      const stored = (await read<Message[]>(node.url, account, '/api/v2/messages?limit=500')).length - 1
      expect(stored).toBe(storedBefore)

      const second = (await until(
        () => batch(text),
        answer => answer !== null,
      ))!
      expect(second.batch.results.map(result => [result.to, result.status])).toEqual(
        to.map(each => [each, 'queued']),
      )
      const third = (await batch(text))!
      expect([third.text, third.replayed]).toEqual([second.text, true])

      const messages = await settledMessages()
      expect(new Map(messages.map(message => [message.messageId, message.to]))).toEqual(
        new Map(second.batch.results.map(result => [result.messageId, result.to])),
      )
      expect(messages).toHaveLength(to.length)
      await compare(messages)
      // What the killed node had not accepted was certainly sent by the next one.
      if (storedBefore === 0) expect(messages.every(message => message.status === 'sent')).toBe(true)
    },
  )

  test('that a repeat finishes returns what was accepted, although it would be refused by now', async () => {
    const options = { scheduleAt: new Date(Date.now() + 3_600_000).toISOString() }
    const request = { account, key: 'batch', body: { to, text: `batch ${cases}`, options } }
    const lost = proxy.loseAt('accept_sends', 'after')
    const first = send(node.url, request)
    await killWhen(lost)
    expect(await first).toBeNull()
    await admin(node.url, 'PATCH', `/accounts/${account.id}`, { plan: { allowsScheduling: false } })
    const second = await until(
      () => send(node.url, request),
      answer => answer?.status !== 409,
    )
    expect(second).toMatchObject({ status: 200 })
    const { results } = JSON.parse(second!.text) as BatchResult
    expect(results.map(result => [result.to, result.status])).toEqual(to.map(each => [each, 'scheduled']))
  })
})

describe('a batch whose messages were not stored because the database went away', { timeout: 60_000 }, () => {
  test('stays accepted once a repeat is accepted by the same node', async () => {
    const options = { scheduleAt: new Date(Date.now() + 3_600_000).toISOString() }
    const to = Array.from({ length: 5 }, (_, at) => `+1202555${1300 + at}`)
    const request = { account, key: 'batch', body: { to, text: `batch ${cases}`, options } }
    const lost = proxy.loseAt('accept_sends', 'before')
    const first = send(node.url, request)
    await lost
    proxy.set('cut')
    expect((await first)?.status).toBe(503)
    proxy.set('open')
    await database.db.query({
      name: 'batch_is_old',
      text: `update idempotency set batch_at = batch_at - interval '11 seconds' where key = 'batch'`,
    })
    const second = await until(
      () => send(node.url, request),
      answer => answer?.status === 200,
    )
    const { results } = JSON.parse(second!.text) as BatchResult
    // Before a node claims what is due, it withdraws what it could not confirm.
    const due = { account, key: 'due', body: { to: to[0], text: `hello due ${cases}`, options } }
    const scheduled = JSON.parse((await send(node.url, due))!.text) as { tracking: { messageId: MessageId } }
    const { messageId } = scheduled.tracking
    await database.db.query({
      name: 'due_alone',
      text: 'update outbox set due_at = now() where message_id = $1',
      values: [toUuid(messageId)],
    })
    await until(
      () => read<Message>(node.url, account, `/api/v2/messages/${messageId}`),
      found => found.status === 'sent',
    )
    for (const result of results) {
      const message = await read<Message>(node.url, account, `/api/v2/messages/${result.messageId}`)
      expect(message).toMatchObject({ status: 'scheduled', billing: { state: 'held' } })
    }
  })
})

describe('scheduled messages', { timeout: 60_000 }, () => {
  const COUNT = 10

  async function schedule(text: string): Promise<void> {
    const options = { scheduleAt: new Date(Date.now() + 3_600_000).toISOString() }
    const to = Array.from({ length: COUNT }, (_, at) => `+1202555${1200 + at}`)
    const answer = await send(node.url, { account, key: 'scheduled', body: { to, text, options } })
    expect(answer?.status, answer?.text).toBe(200)
  }

  test.each([
    // If a call does not concern all messages, the others end as usual.
    ['their claim', 'before', 'claim_due', 'sent', 1],
    ['their claim', 'after', 'the words', 'sent', 1],
    ['the recording of their attempts', 'before', 'begin_attempts', 'sent', 1],
    ['the recording of their attempts', 'after', 'begin_attempts', 'unknown', 0],
    ['the storing of their outcomes', 'before', 'settle_attempts', 'unknown', 1],
    ['the storing of their outcomes', 'after', 'settle_attempts', 'sent', 1],
  ] as const)(
    'whose node is killed at %s, %s the query (%s), are each sent once or marked unknown',
    async (_, when, step, status, taken) => {
      const text = `scheduled ${cases}`
      await schedule(text)
      // Due messages are polled all the time: only the response shows which poll found these.
      const lost = step === 'the words' ? proxy.loseAnswer(text) : proxy.loseAt(step, when)
      // They become due when the proxy is prepared, however long that took.
      await database.db.query({
        name: 'due_now',
        text: 'update outbox set due_at = now() where account_id = $1',
        values: [toUuid(account.id as AccountId)],
      })
      await killWhen(lost)
      const messages = await settledMessages()
      expect(messages).toHaveLength(COUNT)
      await compare(messages)
      const struck = messages.filter(
        message => message.status === status && takenOf(text, message.to) === taken,
      )
      expect(struck.length).toBeGreaterThan(0)
      if (step !== 'settle_attempts' && status === 'sent') expect(struck).toHaveLength(COUNT)
    },
  )
})
