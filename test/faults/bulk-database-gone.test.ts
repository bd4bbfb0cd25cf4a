import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { bulkRows, createBulk, readBulk, readBulkRows, sentTimes, untilBulk } from '../support/bulk.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { memoryFiles, png } from '../support/files.ts'
import { type Gateway, notNow, startSmsGateway, taken as TAKEN } from '../support/gateways.ts'
import { uploadFile } from '../support/media.ts'
import { mostInASecond } from '../support/most-in-a-second.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'

/** Longer than any request waits, and longer than the accept of a row is repeated. */
const AWAY_MS = 6_000
const RATE = 5
/** Longer than it takes to find that a message is not held. */
const UNHELD_MS = 20_000

let database: TestDatabase
let proxy: DatabaseProxy
let app: TestApp
let account: TestAccount
let gateway: Gateway

beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  app = await startTestApp({ database, databaseUrl: proxy.url, files: memoryFiles() })
  gateway = await startSmsGateway(app, { retryPolicy: { maxAttempts: 3, backoffMs: 30_000 } })
  account = await app.createAccount()
})
afterEach(async () => {
  proxy.set('open')
  await app.stop()
  await gateway.close()
  await proxy.close()
  await database.drop()
})

async function begin(messages: object[], perSecond = RATE): Promise<string> {
  const { status, text, body } = await createBulk(
    app,
    account,
    { messagesPerSecond: perSecond, messages },
    { live: true },
  )
  if (status !== 202) throw new Error(text)
  return body['id'] as string
}

/** The texts that the gateway was asked to send, sorted. */
function taken(): string[] {
  return gateway.peer.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text).sort()
}

function textsOf(rows: readonly object[]): string[] {
  return rows.map(row => (row as { content: { text: string } }).content.text).sort()
}

/** Ends the calls that wait for a response. */
function reconnect(): void {
  proxy.set('cut')
  proxy.set('open')
}

test('a job during which the database is cut off loses no row, sends none twice, and keeps its rate', async () => {
  const rows = bulkRows(40)
  const id = await begin(rows)
  await app.until(
    () => readBulk(app, account, id),
    job => job.counts.sent >= 8,
  )
  proxy.set('cut')
  await app.pass(AWAY_MS)
  const meanwhile = taken().length
  await app.pass(AWAY_MS)
  expect(taken()).toHaveLength(meanwhile)
  proxy.set('open')
  const job = await untilBulk(app, account, id, 'completed')
  expect(job.counts).toEqual({ pending: 0, sent: 40, failed: 0, cancelled: 0 })
  expect(taken()).toEqual(textsOf(rows))
  expect(mostInASecond(await sentTimes(app, id))).toBe(RATE)
})

test('a row that was stored although the response was lost is sent once, with its file', async () => {
  const { id: assetId } = await uploadFile(app, account.liveKey, png())
  const rows: object[] = bulkRows(20)
  rows[12] = {
    to: '+12025552012',
    channel: 'user_chatapp_session',
    content: { text: 'row 12' },
    attachment: { type: 'image', assetId },
  }
  const id = await begin(rows)
  // After validation only the accept query contains this text; waiting for the counts might be too late.
  await untilBulk(app, account, id, 'queued', 'running')
  const unheard = proxy.loseAt('row 12', 'after')
  await app.during(unheard)
  proxy.set('cut')
  await app.pass(AWAY_MS)
  proxy.set('open')
  const job = await untilBulk(app, account, id, 'completed')
  expect(job.counts).toEqual({ pending: 0, sent: 20, failed: 0, cancelled: 0 })
  expect(taken()).toEqual(textsOf(rows.toSpliced(12, 1)))
  const [message] = await account.messages(`?bulkJobId=${id}&channel=user_chatapp_session`)
  const { timeline } = await account.message(message!.messageId)
  expect(timeline.filter(step => step.status === 'unknown')).toEqual([])
  expect(await readBulkRows(account, id, '?status=failed')).toEqual([])
  expect(mostInASecond(await sentTimes(app, id))).toBe(RATE)
})

test('a row that was stored without a response is sent also if its connection is busy when it is tried again', async () => {
  await gateway.close()
  gateway = await startSmsGateway(app, { account, config: { maxConnections: 1 } })
  const rows = bulkRows(6)
  const id = await begin(rows)
  await untilBulk(app, account, id, 'queued', 'running')
  const unheard = proxy.loseEvery('row 5')
  await app.during(unheard.first)
  gateway.act(nth => (nth === 1 ? 'silent' : TAKEN(nth)))
  // It gets the only slot once the row is given up.
  const other = { to: '+12025550199', messageType: 'utility', text: 'in between' }
  await app.during(account.send(other, { live: true }))
  await app.until(
    async () => taken(),
    texts => texts.includes('in between'),
  )
  unheard.stop()
  const job = await untilBulk(app, account, id, 'completed')
  expect(job.counts).toEqual({ pending: 0, sent: 6, failed: 0, cancelled: 0 })
  expect(taken()).toEqual(['in between', ...textsOf(rows)])
  for (const { messageId } of await account.messages(`?bulkJobId=${id}`)) {
    const { timeline } = await account.message(messageId)
    expect(timeline.filter(step => step.status === 'unknown')).toEqual([])
  }
})

test('a row that was stored without a response is sent once, also if its lane hears of it while it is sent from the outbox', async () => {
  const rows = bulkRows(6)
  const id = await begin(rows)
  await untilBulk(app, account, id, 'queued', 'running')
  const unheard = proxy.loseEvery('row 5')
  await app.during(unheard.first)
  gateway.act(nth => (nth === 1 ? 'silent' : TAKEN(nth)))
  await app.until(
    async () => taken(),
    texts => texts.length === 6,
  )
  unheard.stop()
  // Ends the call that still waits for its response.
  proxy.set('cut')
  await app.pass(500)
  proxy.set('open')
  // The lane hears of its last row, while the gateway does not answer.
  await app.pass(UNHELD_MS)
  expect(taken()).toEqual(textsOf(rows))
  await app.until(
    () => account.messages(`?bulkJobId=${id}&status=unknown`),
    messages => messages.length === 1,
  )
})

test('a row whose first try ended before the accept is sent, also if the second one is stored without a response', async () => {
  const { id: assetId } = await uploadFile(app, account.liveKey, png())
  const rows: object[] = bulkRows(6)
  rows[5] = {
    to: '+12025552005',
    channel: 'user_chatapp_session',
    content: { text: 'row 5' },
    attachment: { type: 'image', assetId },
  }
  const id = await begin(rows)
  await untilBulk(app, account, id, 'queued', 'running')
  await app.during(proxy.loseAt('media_use', 'before'))
  const unheard = proxy.loseAt('row 5', 'after')
  reconnect()
  await app.during(unheard)
  // The accept is repeated at once, and recognises the message.
  reconnect()
  // A read may meet a connection that was cut.
  await app.until(
    () => app.call(`/api/v2/messages/bulk/${id}`, { key: account.liveKey }),
    ({ status }) => status === 200,
  )
  const job = await untilBulk(app, account, id, 'completed')
  expect(job.counts).toEqual({ pending: 0, sent: 6, failed: 0, cancelled: 0 })
  const [message] = await account.messages(`?bulkJobId=${id}&channel=user_chatapp_session`)
  const { timeline } = await account.message(message!.messageId)
  expect(timeline.filter(step => step.status === 'unknown')).toEqual([])
})

describe('a row that was stored without a response, and is given up while its job', () => {
  const post = (id: string, verb: string) =>
    app.call(`/api/v2/messages/bulk/${id}/${verb}`, { method: 'POST', key: account.liveKey })

  /** A job whose last row is stored without a response, and which is changed before that row is tried again. */
  async function changeUnheard(verb: string): Promise<string> {
    // So far apart that no other row is stored together with the last one.
    const id = await begin(bulkRows(6), 1)
    await untilBulk(app, account, id, 'queued', 'running')
    const unheard = proxy.loseEvery('row 5')
    await app.during(unheard.first)
    // No time passes meanwhile, in which the row might be found and sent before the job changes.
    expect(await post(id, verb)).toMatchObject({ status: 200 })
    await app.pass(UNHELD_MS)
    unheard.stop()
    expect(taken()).toEqual(textsOf(bulkRows(5)))
    return id
  }

  async function statusesOf(id: string): Promise<(string | undefined)[]> {
    const messages = await account.messages(`?bulkJobId=${id}`)
    const timelines = await Promise.all(messages.map(({ messageId }) => account.message(messageId)))
    return timelines.flatMap(({ timeline }) => timeline.map(({ status }) => status))
  }

  test('is paused, is sent when the job is resumed', async () => {
    const id = await changeUnheard('pause')
    await post(id, 'resume')
    const job = await untilBulk(app, account, id, 'completed')
    expect(job.counts).toEqual({ pending: 0, sent: 6, failed: 0, cancelled: 0 })
    expect(taken()).toEqual(textsOf(bulkRows(6)))
    expect(await statusesOf(id)).not.toContain('unknown')
  })

  test('is cancelled, is cancelled, too', async () => {
    const id = await changeUnheard('cancel')
    const job = await app.until(
      () => readBulk(app, account, id),
      ({ counts }) => counts.pending === 0,
    )
    expect(job.counts).toEqual({ pending: 0, sent: 5, failed: 0, cancelled: 1 })
    expect(await statusesOf(id)).not.toContain('unknown')
  })
})

test('a lane whose release failed with the database is used by the next job', async () => {
  const first = await begin(bulkRows(2))
  await app.during(proxy.loseAt('release_bulk_lanes', 'before'))
  proxy.set('cut')
  await app.pass(AWAY_MS)
  proxy.set('open')
  await untilBulk(app, account, first, 'completed')
  const second = await begin(bulkRows(2))
  expect((await untilBulk(app, account, second, 'completed')).counts.sent).toBe(2)
})

test('a cancel that is interrupted by the database withdraws the messages that wait for a retry', async () => {
  gateway.act(notNow)
  const id = await begin(bulkRows(3))
  await app.until(
    () => account.messages(`?bulkJobId=${id}`),
    messages => messages.length === 3 && messages.every(({ status }) => status === 'queued'),
  )
  const asked = taken()
  const cancel = () =>
    app.call(`/api/v2/messages/bulk/${id}/cancel`, { method: 'POST', key: account.liveKey })
  // By then the job is cancelled, and none of its waiting messages.
  const lost = proxy.loseAt('bulk_list_open', 'before')
  const [unheard] = await Promise.all([app.during(cancel()), lost])
  expect(unheard).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
  expect((await cancel()).body).toMatchObject({ code: 'JOB_STATE_CONFLICT' })
  const job = await app.until(
    () => readBulk(app, account, id),
    ({ counts }) => counts.pending === 0,
  )
  expect(job).toMatchObject({ status: 'cancelled', counts: { sent: 0, failed: 0, cancelled: 3 } })
  expect(taken()).toEqual(asked)
})
