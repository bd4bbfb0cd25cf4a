import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxMessage } from '../../src/contract/sandbox.ts'
import { createSandboxMessages } from '../../src/core/sandbox/messages.ts'
import { sandboxMessagesList } from '../../src/http/routes/sandbox-messages-list.ts'
import { createDatabase, type Database } from '../../src/infra/db.ts'
import { type AccountId, toUuid } from '../../src/lib/ids.ts'
import { createPhones } from '../../src/lib/phone.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createSandboxBench } from '../support/sandbox.ts'
import { caller, type Frame, keysOf, startFrame } from './frame/frame.ts'

const PATH = '/api/v2/sandbox/messages'
const never = new AbortController().signal

let database: TestDatabase
let gone: Database
let frame: Frame
let frameWithoutDatabase: Frame
const messageIds: string[] = []

const start = (db: Database) =>
  startFrame({
    routes: [
      sandboxMessagesList({
        sandboxMessages: createSandboxMessages({ db, phones: createPhones({ cacheSize: 10 }) }),
      }),
    ],
    keys: keysOf({
      test: caller(),
      live: caller({ mode: 'live' }),
      reader: caller({ permissions: new Set(['messages:read']) }),
      creator: caller({ permissions: new Set(['messages:create']) }),
      heavy: caller({ account: { id: 'acc_00000000000000000000000003' } }),
      stranger: caller({ account: { id: 'acc_00000000000000000000000002' } }),
      unverified: caller({ account: { phone: { number: '+201000000000', verified: false } } }),
    }),
  })

beforeAll(async () => {
  database = await createTestDatabase()
  gone = createDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/nothing' })
  frame = await start(database.db)
  frameWithoutDatabase = await start(gone)
  await fill()
})
afterAll(async () => {
  await frame.close()
  await frameWithoutDatabase.close()
  await gone.close()
  await database.drop()
})

/** Stores a one-time code, an e-mail and a picture, a second apart. */
async function fill(): Promise<void> {
  const bench = createSandboxBench(database.db, caller().account.id)
  const link = await bench.open()
  const file = {
    type: 'image' as const,
    mimetype: 'image/png',
    fileName: 'horn.png',
    publicUrl: 'https://example.com/horn.png',
    open: async () => Readable.from([Buffer.from('horn')]),
  }
  const messages = [
    bench.outgoing({ messageType: 'otp', text: 'Your code is 123456' }),
    bench.outgoing({
      channel: 'email_user',
      to: 'ann@example.com',
      subject: 'Hi',
      text: '<p>Hi</p>',
      html: true,
    }),
    bench.outgoing({ channel: 'botapp_bot', to: '700100', from: null, text: 'A horn', files: [file] }),
  ]
  for (const message of messages) {
    await link.send(message, never)
    await bench.pass(1_000)
    messageIds.push(message.messageId)
  }
  await link.close()
}

async function rows(path: string, key = 'test'): Promise<SandboxMessage[]> {
  const answer = await frame.call('GET', path, { key })
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as SandboxMessage[]
}

describe('the list of sandbox messages', () => {
  test('is newest first and complete, codes and media included', async () => {
    const answer = await frame.call('GET', PATH, { key: 'test' })
    expect(answer.body).toMatchObject({ success: true, nextCursor: null })
    const data = answer.body['data'] as SandboxMessage[]
    expect(data.map(row => row.messageId)).toEqual(messageIds.toReversed())
    expect(data).toMatchObject([
      {
        channel: 'botapp_bot',
        sender: null,
        text: 'A horn',
        html: null,
        media: [{ fileName: 'horn.png', sizeBytes: 4, publicUrl: 'https://example.com/horn.png' }],
      },
      { to: 'ann@example.com', subject: 'Hi', text: null, html: '<p>Hi</p>', media: null },
      { to: '+15550104567', text: 'Your code is 123456', template: null, attempts: 1 },
    ])
    expect(data[0]!.receivedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test.each(['reader', 'creator', 'unverified'])('is available to any test key: %s', async key => {
    expect(await rows(PATH, key)).toHaveLength(3)
  })

  test('is filtered by recipient, with the plus escaped or not', async () => {
    for (const to of ['%2B15550104567', '+15550104567', '%2B1%20555-010%204567', 'ann@example.com']) {
      expect(await rows(`${PATH}?to=${to}`)).toHaveLength(1)
    }
    expect(await rows(`${PATH}?to=bob@example.com`)).toEqual([])
  })

  test('is paged', async () => {
    const first = await frame.call('GET', `${PATH}?limit=2`, { key: 'test' })
    const cursor = encodeURIComponent(String(first.body['nextCursor']))
    const second = await rows(`${PATH}?limit=2&cursor=${cursor}`)
    expect(second.map(row => row.messageId)).toEqual(messageIds.slice(0, 1))
  })

  test('has at most 4 MB of large e-mails on a page, and all of them over its pages', async () => {
    const account = 'acc_00000000000000000000000003' as AccountId
    await database.db.query({
      name: 'large_mails',
      text: `insert into sandbox_messages (account_id, message_id, channel, recipient, attempts, received_at, content)
             select $1, uuid_at(to_timestamp(n)), 'email_user', 'ann@example.com', 1, to_timestamp(n),
                    json_build_object('sender', null, 'subject', n::text, 'text', repeat('x', 1500000),
                                      'html', null, 'media', null, 'template', null)
               from generate_series(1, 7) as n`,
      values: [toUuid(account)],
    })
    const seen: unknown[] = []
    const pages: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at = cursor && `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await frame.call('GET', `${PATH}?limit=100${at}`, { key: 'heavy' })
      const data = body['data'] as SandboxMessage[]
      pages.push(data.length)
      seen.push(...data.map(({ subject }) => Number(subject)))
      cursor = body['nextCursor'] as string | null
    }
    expect([seen, pages]).toEqual([
      [7, 6, 5, 4, 3, 2, 1],
      [3, 3, 1],
    ])
  })

  test('has no messages of another account', async () => {
    expect(await rows(PATH, 'stranger')).toEqual([])
  })
})

test.each([
  ['limit=0', 'limit'],
  ['limit=501', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=many', 'limit'],
  ['to=', 'to'],
  [`to=${'1'.repeat(321)}`, 'to'],
  ['to=1&to=2', 'to'],
  ['to=%00', 'to'],
  ['to=%FF', 'to'],
  ['cursor=', 'cursor'],
  ['cursor=bogus', 'cursor'],
])('400 for ?%s', async (query, path) => {
  const answer = await frame.call('GET', `${PATH}?${query}`, { key: 'test' })
  expect(answer.status, answer.text).toBe(400)
  expect(answer.body).toMatchObject({ success: false, code: 'VALIDATION_ERROR', details: [{ path }] })
})

test.each([null, 'nobody'])('401 for the key %s', async key => {
  const answer = await frame.call('GET', PATH, { key })
  expect([answer.status, answer.body['code']]).toEqual([401, 'UNAUTHORIZED'])
})

test('403 for a live key', async () => {
  const answer = await frame.call('GET', PATH, { key: 'live' })
  expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
  expect(answer.text).not.toContain('123456')
})

test('503 while the database is unreachable', async () => {
  const answer = await frameWithoutDatabase.call('GET', PATH, { key: 'test' })
  expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
})
