import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { timed } from '../support/timed.ts'
import {
  type Account,
  admin,
  ask,
  createAccount,
  read,
  send,
  sendUntilSent,
  until,
} from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

/** A lease lasts five seconds, and its end is noticed within two heartbeats. */
const TAKEOVER_MS = 12_000

let database: TestDatabase
let smsc: Smsc
let nodes: [Posthorn, Posthorn]
let account: Account

beforeAll(async () => {
  database = await createEmptyDatabase()
  smsc = await startSmsc('accept')
  // Concurrently, on a database without any table.
  nodes = await Promise.all([startNode(), startNode()])
  await admin(nodes[0].url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    // One at a time, so that further messages wait in the node.
    config: {
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'posthorn',
      password: 'secret',
      window: 1,
      responseTimeoutMs: 60_000,
    },
    retryPolicy: { maxAttempts: 5, backoffMs: 10 },
  })
}, 60_000)
afterAll(async () => {
  await Promise.all(nodes.map(node => node.stop()))
  await smsc.close()
  await database.drop()
})

beforeEach(async () => {
  smsc.behave('accept')
  account = await createAccount(nodes[0].url, { balance: 100 })
  // Both nodes have the account in memory and are connected to the SMSC.
  for (const [at, node] of nodes.entries()) {
    await sendUntilSent(node.url, textRequest(`hello ${at} of ${account.id}`))
  }
})
afterEach(() => {
  for (const node of nodes) node.checkAlive()
})

function startNode(): Promise<Posthorn> {
  return startPosthorn({
    DATABASE_URL: database.url,
    POSTHORN_DB_POOL: '4',
    POSTHORN_SANDBOX: 'off',
    POSTHORN_SYNC_WAIT_MS: '400',
  })
}

function sendText(node: Posthorn, text: string, options: Record<string, unknown> = {}) {
  return send(node.url, textRequest(text, options))
}

function textRequest(text: string, options: Record<string, unknown> = {}) {
  return {
    account,
    key: text,
    body: { to: '+12025550199', channel: 'local_sms', content: { text }, options },
  }
}

const messageIdOf = (text: string) =>
  (JSON.parse(text) as { tracking: { messageId: string } }).tracking.messageId

function taken(text: string): number {
  return smsc.submits.filter(submit => submit.text === text).length
}

function message(node: Posthorn, id: string) {
  return read<MessageWithTimeline>(node.url, account, `/api/v2/messages/${id}`)
}

async function count(table: string): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: `count_${table}`,
    text: `select count(*)::integer as n from ${table}`,
  })
  return rows[0]!.n
}

test('two nodes that start at once on an empty database create one schema and one demo account', async () => {
  const { rows } = await database.db.query<{ name: string; n: number }>({
    name: 'made_once',
    text: `select name, count(*)::integer as n from accounts where name = 'Demo' group by name`,
  })
  expect(rows).toEqual([{ name: 'Demo', n: 1 }])
  expect(await count('nodes')).toBe(2)
  for (const node of nodes) expect((await ask(node.url, '/readyz'))!.status).toBe(200)
})

test('each message that is due is sent by one of the nodes', async () => {
  const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
  const texts = Array.from({ length: 40 }, (_, at) => `due ${at} of ${account.id}`)
  const answers = await Promise.all(texts.map((text, at) => sendText(nodes[at % 2]!, text, { scheduleAt })))
  // The SMSC refuses every second one once, so that it is due again.
  const seen = new Set<string>()
  smsc.behave(submit => {
    if (Number(/\d+/.exec(submit.text)![0]) % 2 === 1 || seen.has(submit.text)) return {}
    seen.add(submit.text)
    return { status: 0x08 }
  })
  for (const answer of answers) expect(JSON.parse(answer!.text)).toMatchObject({ status: 'scheduled' })
  // All of them become due at once, however long it took to accept them.
  await database.db.query({ name: 'due_now', text: 'update outbox set due_at = now()' })
  for (const answer of answers) {
    await until(
      () => message(nodes[0], messageIdOf(answer!.text)),
      found => found.status === 'sent',
    )
  }
  expect(texts.map(taken)).toEqual(texts.map((_, at) => (at % 2 === 1 ? 1 : 2)))
  expect(await count('outbox')).toBe(0)
})

test('a key that is revoked on one node stops working on the other within a second', async () => {
  const [one, other] = nodes
  const { keys } = await admin<{ keys: { id: string; mode: string }[] }>(
    one.url,
    'GET',
    `/accounts/${account.id}`,
  )
  const readWallet = () => ask(other.url, '/api/v2/wallet', { headers: { 'x-api-key': account.liveKey } })
  expect((await readWallet())!.status).toBe(200)
  await admin(one.url, 'DELETE', `/accounts/${account.id}/keys/${keys.find(key => key.mode === 'live')!.id}`)
  const revokedAtMs = performance.now()
  // Measured by when the request is made, not by how long this machine takes to respond.
  const lastTaken = { askedMs: 0 }
  await until(
    async () => {
      const askedMs = performance.now() - revokedAtMs
      const answer = await readWallet()
      if (answer?.status === 200) lastTaken.askedMs = askedMs
      return answer
    },
    answer => answer?.status === 401,
  )
  expect(lastTaken.askedMs).toBeLessThan(1_000)
})

test('two sends with one idempotency key on both nodes make one message and get one response', async () => {
  const texts = Array.from({ length: 50 }, (_, at) => `race ${at} of ${account.id}`)
  await Promise.all(
    texts.map(async text => {
      const answers = await Promise.all(nodes.map(node => sendText(node, text)))
      const succeeded = answers.filter(answer => answer!.status === 200)
      const refused = answers.filter(answer => answer!.status !== 200)
      expect(succeeded.length).toBeGreaterThan(0)
      for (const answer of refused) {
        expect(answer!.status).toBe(409)
        expect(answer!.text).toContain('still in progress')
        expect(answer!.headers.get('retry-after')).toBe('1')
      }
      const later = await until(
        () => sendText(nodes[0], text),
        answer => answer?.status === 200,
      )
      expect(new Set([...succeeded, later].map(answer => answer!.text)).size).toBe(1)
      expect([...succeeded, later].filter(answer => !answer!.replayed)).toHaveLength(1)
    }),
  )
  await until(
    () => count('outbox'),
    left => left === 0,
  )
  expect(texts.map(taken)).toEqual(texts.map(() => 1))
})

describe('when one of two nodes is killed', () => {
  test('the other sends the messages that were not begun, and those begun become unknown', async () => {
    const [victim, survivor] = nodes
    smsc.behave('silent')
    const begun = await sendText(victim, `begun of ${account.id}`)
    const texts = Array.from({ length: 6 }, (_, at) => `held ${at} of ${account.id}`)
    const held = await Promise.all(texts.map(text => sendText(victim, text)))
    for (const answer of [begun, ...held])
      expect(JSON.parse(answer!.text)).toMatchObject({ status: 'queued' })
    expect(taken(`begun of ${account.id}`)).toBe(1)
    expect(texts.map(taken)).toEqual(texts.map(() => 0))

    async function takenOver(): Promise<MessageWithTimeline> {
      for (const answer of held) {
        const found = await until(
          () => message(survivor, messageIdOf(answer!.text)),
          one => one.status === 'sent',
        )
        expect(found.attempts).toBe(1)
      }
      return until(
        () => message(survivor, messageIdOf(begun!.text)),
        one => one.status === 'unknown',
      )
    }

    smsc.behave('accept')
    await victim.kill()
    const { value: unknown, tookMs } = await timed(takenOver())
    expect(tookMs).toBeLessThan(TAKEOVER_MS)
    expect(unknown).toMatchObject({ billing: { state: 'held' }, attempts: 1 })
    expect(taken(`begun of ${account.id}`)).toBe(1)
    expect(texts.map(taken)).toEqual(texts.map(() => 1))

    // The stored responses of the dead node are replayed by the other one.
    const again = await sendText(survivor, `begun of ${account.id}`)
    expect(again).toMatchObject({ status: 200, text: begun!.text, replayed: true })
    nodes[0] = await startNode()
  }, 60_000)
})
