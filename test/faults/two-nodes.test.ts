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

/** A lease lasts five seconds, and its end is seen within a beat or two. */
const TAKEOVER_MS = 12_000

let database: TestDatabase
let smsc: Smsc
let nodes: [Posthorn, Posthorn]
let account: Account

beforeAll(async () => {
  database = await createEmptyDatabase()
  smsc = await startSmsc('accept')
  // At once, on a database without a single table.
  nodes = await Promise.all([startNode(), startNode()])
  await admin(nodes[0].url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    // One at a time, so that others wait in the hands of the node.
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
  // Both know the account and have their line to the centre.
  for (const [at, node] of nodes.entries()) {
    await sendUntilSent(node.url, saying(`hello ${at} of ${account.id}`))
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
  return send(node.url, saying(text, options))
}

function saying(text: string, options: Record<string, unknown> = {}) {
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

test('started at once on an empty database, they make one store', async () => {
  const { rows } = await database.db.query<{ name: string; n: number }>({
    name: 'made_once',
    text: `select name, count(*)::integer as n from accounts where name = 'Demo' group by name`,
  })
  expect(rows).toEqual([{ name: 'Demo', n: 1 }])
  expect(await count('nodes')).toBe(2)
  for (const node of nodes) expect((await ask(node.url, '/readyz'))!.status).toBe(200)
})

test('a message that is due is sent by one of them', async () => {
  const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
  const texts = Array.from({ length: 40 }, (_, at) => `due ${at} of ${account.id}`)
  const answers = await Promise.all(texts.map((text, at) => sendText(nodes[at % 2]!, text, { scheduleAt })))
  // Every second one is put off by the centre, and due once more.
  const seen = new Set<string>()
  smsc.behave(submit => {
    if (Number(/\d+/.exec(submit.text)![0]) % 2 === 1 || seen.has(submit.text)) return {}
    seen.add(submit.text)
    return { status: 0x08 }
  })
  for (const answer of answers) expect(JSON.parse(answer!.text)).toMatchObject({ status: 'scheduled' })
  // Its time has come for all of them at once, however long they took to be accepted.
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

test('a key that is revoked on one stops on the other within a second', async () => {
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
  // Of what is asked, and not of how long this machine takes to answer.
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

test('of two sends with one key there is one message, and one answer', async () => {
  const texts = Array.from({ length: 50 }, (_, at) => `race ${at} of ${account.id}`)
  await Promise.all(
    texts.map(async text => {
      const answers = await Promise.all(nodes.map(node => sendText(node, text)))
      const told = answers.filter(answer => answer!.status === 200)
      const refused = answers.filter(answer => answer!.status !== 200)
      expect(told.length).toBeGreaterThan(0)
      for (const answer of refused) {
        expect(answer!.status).toBe(409)
        expect(answer!.text).toContain('still in progress')
        expect(answer!.headers.get('retry-after')).toBe('1')
      }
      const later = await until(
        () => sendText(nodes[0], text),
        answer => answer?.status === 200,
      )
      expect(new Set([...told, later].map(answer => answer!.text)).size).toBe(1)
      expect([...told, later].filter(answer => !answer!.replayed)).toHaveLength(1)
    }),
  )
  await until(
    () => count('outbox'),
    left => left === 0,
  )
  expect(texts.map(taken)).toEqual(texts.map(() => 1))
})

describe('when one of them is killed', () => {
  test('the other takes over what had not begun, and says of the rest that it does not know', async () => {
    const [victim, heir] = nodes
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
          () => message(heir, messageIdOf(answer!.text)),
          one => one.status === 'sent',
        )
        expect(found.attempts).toBe(1)
      }
      return until(
        () => message(heir, messageIdOf(begun!.text)),
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

    // The answers given by the dead are given by the living.
    const again = await sendText(heir, `begun of ${account.id}`)
    expect(again).toMatchObject({ status: 200, text: begun!.text, replayed: true })
    nodes[0] = await startNode()
  }, 60_000)
})
