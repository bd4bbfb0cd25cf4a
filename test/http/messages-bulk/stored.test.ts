import { afterAll, beforeAll, expect, test } from 'vitest'
import { toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { bulkRows, createBulk, readBulkRows, untilBulk } from '../../support/bulk.ts'
import { memoryFiles, png } from '../../support/files.ts'
import { uploadFile } from '../../support/media.ts'

/** What bulk rows store, and the files they retain. */

const HOUR_MS = 3_600_000
let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp({ env: { POSTHORN_MEDIA_KEEP_HOURS: '2' }, files: memoryFiles() })
  account = await app.createAccount()
})
afterAll(() => app.stop())

async function begin(body: object, key?: string): Promise<string> {
  const answer = await createBulk(app, account, { messagesPerSecond: 1, ...body }, key ? { key } : {})
  if (answer.status !== 202) throw new Error(answer.text)
  return answer.body['id'] as string
}

async function bodiesOf(id: string): Promise<string[]> {
  const { rows } = await app.db.query<{ body: string }>({
    name: 't_bodies_of',
    text: 'select body from bulk_rows where job_id = $1 order by n',
    values: [toUuid(id as `job_${string}`)],
  })
  return rows.map(row => row.body)
}

async function isLaneLeft(): Promise<boolean> {
  const { rows } = await app.db.query<{ left: boolean }>({
    name: 't_is_lane_left',
    text: 'select node is null as left from bulk_lanes where account_id = $1',
    values: [toUuid(account.id as `acc_${string}`)],
  })
  return rows[0]!.left
}

test('one-time codes of bulk rows are encrypted while the rows wait, and erased when they are messages', async () => {
  const created = await app.call('/api/v2/templates', {
    method: 'POST',
    key: account.liveKey,
    body: { name: 'sign_in', category: 'sms', subType: 'otp', content: 'Your code is {{1}}' },
  })
  const { id: templateId } = (created.body['data'] as { template: { id: string } }).template
  const messages = [
    { to: '+12025552000', channel: 'local_sms', messageType: 'otp', content: { otpCode: '481516' } },
    { to: '+12025552001', channel: 'local_sms', template: { id: templateId, variablesIndexed: ['481517'] } },
    { to: '+12025552002', channel: 'local_sms', messageType: 'otp', content: { text: 'It is 481518' } },
    { to: '+12025552003', channel: 'local_sms', messageType: 'utility', content: { text: 'row 3' } },
  ]
  const id = await begin({ messages }, 'codes')
  await untilBulk(app, account, id, 'running')
  const waiting = await bodiesOf(id)
  expect(waiting.slice(0, 3).join()).not.toContain('4815')
  expect(waiting[3]).toContain('row 3')

  // The same body is still recognised as a replay.
  const again = await createBulk(app, account, { messagesPerSecond: 1, messages }, { key: 'codes' })
  expect(again.headers.get('idempotency-replayed')).toBe('true')

  const job = await untilBulk(app, account, id, 'completed')
  expect(job.counts).toEqual({ pending: 0, sent: 4, failed: 0, cancelled: 0 })
  expect((await bodiesOf(id)).slice(0, 3)).toEqual([0, 1, 2].map(at => JSON.stringify([`+1202555200${at}`])))
  expect((await readBulkRows(account, id)).map(row => row.to)).toEqual(messages.map(message => message.to))
  for (const [at, { to }] of messages.slice(0, 3).entries()) {
    expect((await account.inbox(to))[0]!.text).toContain(`48151${6 + at}`)
  }
})

test('a one-time code in an invalid bulk row is not stored in plain text either', async () => {
  const created = await app.call('/api/v2/templates', {
    method: 'POST',
    key: account.liveKey,
    body: { name: 'sign_up', category: 'sms', subType: 'otp', content: 'Your code is {{1}}' },
  })
  const { id: templateId } = (created.body['data'] as { template: { id: string } }).template
  const id = await begin({
    messages: [{ to: 'nobody', template: { id: templateId, variablesIndexed: ['481519'] } }],
  })
  await untilBulk(app, account, id, 'rejected')
  expect((await bodiesOf(id)).join()).not.toContain('481519')
  expect((await readBulkRows(account, id)).map(row => [row.to, row.status])).toEqual([['nobody', 'invalid']])
})

test('an asset used by a bulk row is kept as long as the job lasts, and no longer', async () => {
  const { id: assetId } = await uploadFile(app, account.testKey, png())
  const attachment = { type: 'image', assetId }
  const messages = [
    // More rows than a node sends before it notices the pause.
    ...bulkRows(7),
    { to: '+12025552999', channel: 'user_chatapp_session', content: { text: 'late' }, attachment },
  ]
  const id = await begin({ messages })
  await untilBulk(app, account, id, 'running')
  await app.call(`/api/v2/messages/bulk/${id}/pause`, { method: 'POST', key: account.testKey })
  // Waits until the node has noticed the pause and all submits have their responses: when the test
  // clock leaps by an hour, a response still outstanding would come too late.
  await app.until(isLaneLeft, left => left)
  await app.until(
    () => readBulkRows(account, id),
    rows => rows.every(({ status, messageId }) => status === 'sent' || messageId === null),
  )
  for (let hours = 0; hours < 6; hours++) await app.leap(HOUR_MS)
  await app.call(`/api/v2/messages/bulk/${id}/resume`, { method: 'POST', key: account.testKey })
  const job = await untilBulk(app, account, id, 'completed')
  expect(job.counts).toEqual({ pending: 0, sent: 8, failed: 0, cancelled: 0 })

  const isThere = async () =>
    (await app.call(`/api/v2/templates/media/${assetId}`, { key: account.testKey })).status === 200
  expect(await isThere()).toBe(true)
  for (let hours = 0; hours < 6; hours++) await app.leap(HOUR_MS)
  expect(await isThere()).toBe(false)
})
