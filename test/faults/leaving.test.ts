import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { timed } from '../support/timed.ts'
import { type Account, admin, createAccount, read, send, sendUntilSent, until } from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

/** The promised maximum time to stop after a signal. */
const STOPPED_MS = 10_000
/** The window of the connection; further messages wait in the node. */
const WINDOW = 3

let database: TestDatabase
let smsc: Smsc
let nodes: [Posthorn, Posthorn]
let account: Account

function startNode() {
  return startPosthorn({ DATABASE_URL: database.url, POSTHORN_DB_POOL: '4', POSTHORN_SANDBOX: 'off' })
}
beforeAll(async () => {
  database = await createTestDatabase()
  smsc = await startSmsc('accept')
  nodes = await Promise.all([startNode(), startNode()])
  await admin(nodes[0].url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: {
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'posthorn',
      password: 'secret',
      window: WINDOW,
      responseTimeoutMs: 60_000,
    },
    retryPolicy: { maxAttempts: 5, backoffMs: 10 },
  })
  account = await createAccount(nodes[0].url, { balance: 100 })
  for (const [at, node] of nodes.entries()) await sendUntilSent(node.url, textRequest(`hello ${at}`))
}, 60_000)
afterAll(async () => {
  await Promise.all(nodes.map(n => n.stop()))
  await smsc.close()
  await database.drop()
})
function textRequest(text: string, options: Record<string, unknown> = {}) {
  return {
    account,
    key: text,
    body: { to: '+12025550199', channel: 'local_sms', content: { text }, options },
  }
}
const taken = (text: string) => smsc.submits.filter(s => s.text === text).length

test('a node that is stopped while its provider hangs exits with 0, and its messages go to the other node', async () => {
  const [leaving, staying] = nodes
  const texts = Array.from({ length: 8 }, (_, at) => `hung ${at}`)
  const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
  const scheduled = await send(leaving.url, textRequest('due meanwhile', { scheduleAt }))
  smsc.behave('silent')
  const before = smsc.submits.length
  const sends = texts.map(text => send(leaving.url, textRequest(text)))
  await smsc.submitted(before + WINDOW)
  // A stopping node accepts no more requests: all of these must have arrived.
  await until(readWaiting, waiting => waiting === texts.length + 1)
  const stopping = timed(leaving.stop())
  const answers = await Promise.all(sends)
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, replayed: false })
  // Submits under way stay without a response; messages that are given back get one.
  smsc.behave('accept')
  const { value: code, tookMs } = await stopping
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(STOPPED_MS)

  await database.db.query({ name: 'due_now', text: `update outbox set due_at = now() where due_at > now()` })
  expect(await settled(staying, scheduled!.text)).toMatchObject({ status: 'sent', attempts: 1 })
  expect(taken('due meanwhile')).toBe(1)
  for (const [at, text] of texts.entries()) {
    const again = await until(
      () => send(staying.url, textRequest(text)),
      each => each?.status === 200,
    )
    expect(again).toMatchObject({ replayed: true, text: answers[at]!.text })
    const { status, billing } = await settled(staying, again!.text)
    expect(billing.state).toBe(status === 'sent' ? 'captured' : 'held')
    expect(taken(text)).toBe(1)
  }
}, 60_000)

/** Messages that are accepted and not final. */
async function readWaiting(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'count_outbox',
    text: 'select count(*)::integer as n from outbox',
  })
  return rows[0]!.n
}

/** The message of a response, once it is sent or unknown. */
function settled(node: Posthorn, answer: string): Promise<MessageWithTimeline> {
  const { messageId } = (JSON.parse(answer) as { tracking: { messageId: string } }).tracking
  return until(
    () => read<MessageWithTimeline>(node.url, account, `/api/v2/messages/${messageId}`),
    ({ status }) => ['sent', 'unknown'].includes(status),
  )
}
