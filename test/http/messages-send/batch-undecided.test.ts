import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BatchResult } from '../../../src/contract/send.ts'
import { acceptSends } from '../../../src/core/messages/hot-store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, fromUuid, type Id, toUuid } from '../../../src/lib/ids.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'
import { uploadFile } from '../../support/media.ts'
import { acceptRow } from '../../support/message-rows.ts'

let database: TestDatabase
let app: TestApp
let account: TestAccount

beforeAll(async () => {
  database = await createTestDatabase()
  app = await startTestApp({ database, databaseUrl: database.url, clock: systemClock })
})
afterAll(async () => {
  await app.stop()
  await database.drop()
})

const TO = ['+12025550123', '+12025550124']

/** Runs `work` while the account's wallet is locked, so that nothing is accepted for it. */
function withoutWallet<T>(work: (tx: Db) => Promise<T>): Promise<T> {
  return database.db.transaction(async tx => {
    await tx.query({
      name: 'lock_wallet',
      text: 'select 1 from wallets where account_id = $1 for update',
      values: [toUuid(account.id as AccountId)],
    })
    return work(tx)
  })
}

async function accountWithUndecidedBatch(): Promise<TestAccount> {
  account = await app.createAccount()
  const first = await withoutWallet(async tx => {
    const answer = await sendBatch()
    await tx.query({
      name: 'never_commits',
      text: `select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`,
    })
    return answer
  })
  expect(first.body).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
  return account
}

const sendBatch = () => account.send({ to: TO, text: 'x' }, { live: true, idempotencyKey: 'batch' })

test('without a key, a recipient whose message may be stored nevertheless is told its id', async () => {
  account = await app.createAccount()
  const answer = await withoutWallet(() => account.send({ to: TO, text: 'x' }, { live: true }))
  expect(answer.status, answer.text).toBe(207)
  const { results, success } = answer.body as unknown as BatchResult
  expect(success).toBe(false)
  for (const result of results) {
    expect(result).toMatchObject({ success: false, status: 'failed', code: 'SERVICE_UNAVAILABLE' })
    expect(result.error).toContain('messageId')
  }
  // The lock is free now, so they are stored, and withdrawn after that.
  const ended = await lookUntil(
    () => account.messages(''),
    found => found.length === 2 && found.every(({ status }) => status === 'cancelled'),
    10_000,
  )
  expect(ended.map(({ messageId }) => messageId).sort()).toEqual(results.map(each => each.messageId).sort())
})

test('a batch with a key whose recipients could not be stored is a 503, and a repeat finishes it at once; its response is replayed', async () => {
  const account = await accountWithUndecidedBatch()
  const second = await sendBatch()
  expect(second.status, second.text).toBe(200)
  const third = await sendBatch()
  expect([third.text, third.headers.get('idempotency-replayed')]).toEqual([second.text, 'true'])
  const live = (await account.messages('')).filter(({ status }) => status !== 'cancelled')
  const { results } = second.body as unknown as BatchResult
  expect(live.map(({ messageId }) => messageId).sort()).toEqual(results.map(each => each.messageId).sort())
})

test('a repeat of a batch reports what the first request stores meanwhile as accepted, and keeps it', async () => {
  const account = await accountWithUndecidedBatch()
  const { answer, ids } = await withStoredMeanwhile(sendBatch)
  const second = await answer
  expect(second.status, second.text).toBe(200)
  const { results } = second.body as unknown as BatchResult
  expect(results.map(({ messageId }) => messageId)).toEqual(ids)
  const { rows } = await database.db.query<{ vouched: boolean }>({
    name: 'are_vouched',
    text: 'select vouched from messages where account_id = $1',
    values: [toUuid(account.id as AccountId)],
  })
  expect(rows).toEqual([{ vouched: true }, { vouched: true }])
})

test('a slow batch of which a repeat has stored the messages does not release their file', async () => {
  account = await app.createAccount()
  const file = await uploadFile(app, account.liveKey, Buffer.from('%PDF-1.4 terms'), {
    fileName: 'terms.pdf',
  })
  const attachment = { type: 'document', assetId: file.id }
  const body = { to: TO, channel: 'official_chatapp', content: { text: 'x' }, attachment }
  const { answer, ids } = await withStoredMeanwhile(() =>
    account.send(body, { live: true, idempotencyKey: 'batch' }),
  )
  const first = await answer
  expect(first.status, first.text).toBe(200)
  const { rows } = await database.db.query<{ id: string }>({
    name: 'uses_of_file',
    text: 'select message_id::text as id from media_uses order by message_id',
  })
  expect(rows.map(({ id }) => fromUuid('msg', id))).toEqual(ids.toSorted())
})

/** The answer to a batch whose messages another request with its key stores first, and their ids. */
function withStoredMeanwhile(
  ask: () => Promise<Answer>,
): Promise<{ answer: Promise<Answer>; ids: Id<'msg'>[] }> {
  return withoutWallet(async tx => {
    const answer = ask()
    await lookUntil(
      () =>
        database.db.query({
          name: 'batch_waits',
          text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        }),
      ({ rows }) => rows.length > 0,
      10_000,
    )
    return { answer, ids: await storeAsAnother(tx) }
  })
}

/** Stores the messages of the batch like another request with its key. */
async function storeAsAnother(tx: Db): Promise<Id<'msg'>[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'ids_of_batch',
    text: 'select unnest(batch)::text as id from idempotency where account_id = $1',
    values: [toUuid(account.id as AccountId)],
  })
  const ids = rows.map(({ id }) => fromUuid('msg', id))
  const { body } = await app.admin('GET', '/connections')
  const [{ id: connectionId }] = body['data'] as [{ id: Id<'cnn'> }]
  const dueAt = app.now() + 3_600_000
  const stored = ids.map(id =>
    acceptRow(
      { accountId: account.id as AccountId, id, connectionId, dueAt },
      { provider: 'sandbox', status: 'queued', begun: false, owned: false },
    ),
  )
  await acceptSends(tx, 1, app.now(), stored, false)
  return ids
}
