import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWhatsAppServer } from '@openclaw/crabline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { BulkJob } from '../../src/contract/bulk.ts'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import type { WebSessionView } from '../../src/contract/web-session.ts'
import { createLog } from '../../src/infra/log.ts'
import { type AccountId, toUuid } from '../../src/lib/ids.ts'
import { type ChatappServer, startChatappServer } from '../support/chatapp-server.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { silentProgress } from '../support/silent-progress.ts'
import { type Account, admin, ask, createAccount, read, send, until } from './support/client.ts'
import { startDatabaseProxy } from './support/database-proxy.ts'
import { OPERATOR_TOKEN, type Posthorn, startPosthorn } from './support/posthorn.ts'

const PHONE = '+12025550123'

let database: TestDatabase
let server: ChatappServer
const nodes: Posthorn[] = []

beforeEach(async () => {
  database = await createTestDatabase()
  server = await startChatappServer()
})
afterEach(async () => {
  await Promise.all(nodes.splice(0).map(node => node.stop()))
  await server.close()
  await database.drop()
})

async function startNode(): Promise<Posthorn> {
  const node = await startPosthorn({
    DATABASE_URL: database.url,
    POSTHORN_DB_POOL: '4',
    POSTHORN_SANDBOX: 'off',
  })
  nodes.push(node)
  return node
}

async function connect(url: string, socketUrl: string): Promise<Account> {
  await admin(url, 'POST', '/connections', {
    provider: 'whatsapp-web',
    name: 'Web sessions',
    channels: ['user_chatapp_session'],
    config: { socketUrl, messagesPerMinute: 6_000, freshMessagesPerMinute: 6_000, checkRecipients: false },
  })
  return createAccount(url, { balance: 100 })
}

async function openSession(url: string, account: Account): Promise<WebSessionView> {
  await ask(url, '/api/v2/chatapp-sessions', {
    method: 'POST',
    headers: { 'x-api-key': account.liveKey },
    body: { name: 'desk', phone: '+15550000000' },
  })
  return untilOpen(url, account)
}

const untilOpen = (url: string, account: Account) =>
  until(
    () => read<WebSessionView>(url, account, '/api/v2/chatapp-sessions/desk'),
    view => view.state === 'open',
  )

function sendText(url: string, account: Account, text: string) {
  const conversationContext = { moduleType: 'chatapp_web', accountId: 'desk', chatId: PHONE }
  return send(url, { account, key: text, body: { to: PHONE, text, conversationContext } })
}

/** Resolves when the message is sent, by either node. */
async function untilSent(url: string, account: Account, answer: Awaited<ReturnType<typeof send>>) {
  const { tracking } = JSON.parse(answer!.text) as { tracking: { messageId: string } }
  return until(
    () => read<MessageWithTimeline>(url, account, `/api/v2/messages/${tracking.messageId}`),
    message => message.status === 'sent',
  )
}

const messages = () => server.received.filter(node => node.tag === 'message')

/** The node on which the session has its lane. */
async function holderOf(connectionId: string): Promise<Posthorn> {
  for (;;) {
    for (const node of nodes) {
      if ((await ask(node.url, '/metrics'))?.text.includes(connectionId)) return node
    }
  }
}

test('one of two nodes holds the session, both send over it, and the other takes over after a kill', async () => {
  const [one] = await Promise.all([startNode(), startNode()])
  const account = await connect(one!.url, server.url)
  const { connectionId } = await openSession(one!.url, account)
  // One connection at a time: one that a busy machine gave up is made again.
  await server.lines(1)

  const answers = await Promise.all(nodes.map((node, at) => sendText(node.url, account, `hello ${at}`)))
  for (const answer of answers) await untilSent(one!.url, account, answer)
  expect(messages()).toHaveLength(2)

  const holder = await holderOf(connectionId)
  const other = nodes.find(node => node !== holder)!
  const lines = server.connections()
  await holder.kill()
  nodes.splice(nodes.indexOf(holder), 1)
  // Accepted before a node holds the session, and sent without pairing again.
  const waiting = sendText(other.url, account, 'while nobody has it')
  await server.connected(lines + 1)
  await untilSent(other.url, account, await waiting)
  expect(messages()).toHaveLength(3)
}, 90_000)

test('rows of a bulk job are sent over a session that another node holds than the one with the lane', async () => {
  const first = await startNode()
  const account = await connect(first.url, server.url)
  await openSession(first.url, account)
  const second = await startNode()
  await database.db.query({
    name: 'lane_of_the_other',
    text: 'insert into bulk_lanes (account_id, node) select $1, max(id) from nodes',
    values: [toUuid(account.id as AccountId)],
  })
  const conversationContext = { moduleType: 'chatapp_web', accountId: 'desk', chatId: PHONE }
  const rows = Array.from({ length: 3 }, (_, at) => ({
    to: PHONE,
    content: { text: `row ${at}` },
    conversationContext,
  }))
  const answer = await ask(second.url, '/api/v2/messages/bulk', {
    method: 'POST',
    headers: { 'x-api-key': account.liveKey, 'idempotency-key': 'over the other' },
    body: { messagesPerSecond: 10, messages: rows },
  })
  const { id } = JSON.parse(answer!.text) as { id: string }
  const found = await until(
    async () => {
      const job = await ask(second.url, `/api/v2/messages/bulk/${id}`, {
        headers: { 'x-api-key': account.liveKey },
      })
      return (JSON.parse(job!.text) as { job: BulkJob }).job
    },
    job => job.counts.pending === 0,
  )
  expect(found.counts).toEqual({ pending: 0, sent: 3, failed: 0, cancelled: 0 })
  expect(messages()).toHaveLength(3)
}, 90_000)

test('a message whose node is killed during the send becomes unknown, and its receipt settles it', async () => {
  server.set({ message: 'silent' })
  const first = await startNode()
  const account = await connect(first.url, server.url)
  await openSession(first.url, account)
  const asked = sendText(first.url, account, 'into the dark')
  const node = await server.next(({ tag }) => tag === 'message')
  await first.kill()
  await asked
  nodes.length = 0
  // The next node starts after the dead one's lease has ended.
  await database.db.query({ name: 'lease_is_over', text: `update nodes set seen_at = '-infinity'` })

  const second = await startNode()
  const [message] = await until(
    () => read<{ messageId: string; status: string }[]>(second.url, account, '/api/v2/messages'),
    list => list[0]?.status === 'unknown',
  )
  await server.opened(2)
  server.send({
    tag: 'receipt',
    attrs: { id: node.attrs['id']!, from: '12025550123@s.whatsapp.net', t: '1767225600' },
  })
  await until(
    () => read<MessageWithTimeline>(second.url, account, `/api/v2/messages/${message!.messageId}`),
    found => found.status === 'delivered',
  )
  expect(messages()).toHaveLength(1)
}, 90_000)

test('losing the database while keys are written loses no message, and the next node can continue', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-crabline-'))
  const opened: string[] = []
  const crabline = await startWhatsAppServer({
    recorderPath: join(directory, 'recorder.jsonl'),
    onEvent({ body }) {
      const text = (body as { message?: { conversation?: string } } | undefined)?.message?.conversation
      if (text !== undefined) opened.push(text)
    },
  })
  const proxy = await startDatabaseProxy(database.url)
  const start = () =>
    startApp({
      config: readConfig({
        PORT: '0',
        DATABASE_URL: proxy.url,
        POSTHORN_DB_POOL: '4',
        POSTHORN_SANDBOX: 'off',
      }),
      secrets: { operatorToken: OPERATOR_TOKEN, masterKey: createHash('sha256').update('faults').digest() },
      log: createLog({ level: 'silent' }),
      databaseUrl: proxy.url,
      progress: silentProgress,
    })
  const first = await start()
  const account = await connect(first.url, crabline.manifest.endpoints.baileysWebSocketUrl)
  await openSession(first.url, account)
  for (const [at, when] of (['before', 'after'] as const).entries()) {
    const lost = proxy.loseAt('web_session_keys_write', when)
    const asked = sendText(first.url, account, `through the gap ${at}`)
    await lost
    await untilSent(first.url, account, await asked)
  }
  await first.stop()

  const second = await start()
  await untilOpen(second.url, account)
  await untilSent(second.url, account, await sendText(second.url, account, 'from the next one'))
  // The recipient could decrypt each: the keys were continued without a gap.
  expect(opened).toEqual(['through the gap 0', 'through the gap 1', 'from the next one'])
  await second.stop()
  await proxy.close()
  await crabline.close()
  await rm(directory, { recursive: true, force: true })
}, 90_000)
