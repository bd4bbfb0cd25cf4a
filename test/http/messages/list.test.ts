import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/contract/message.ts'
import { isId } from '../../../src/lib/ids.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'

const PATH = '/api/v2/messages'
const PHONE = '+12025550100'
/** A well-formed id that does not exist. */
const NOBODYS = '01jd0000000000000000000001'

let app: TestApp
let account: TestAccount
/** Oldest first, a second apart. */
const ids: string[] = []
const times: string[] = []

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  const bodies = [
    { to: PHONE, text: 'one' },
    { to: 'a@example.com', messageType: 'utility', content: { subject: 'Hi', text: 'two' } },
    { to: '+12025550102', messageType: 'otp', content: { otpCode: '123456' } },
    { to: PHONE, channel: 'official_chatapp', messageType: 'marketing', text: 'four' },
    { to: '+12025550002', text: 'five' },
  ]
  for (const body of bodies) {
    const answer = await account.send(body, { live: true })
    const [latest] = await account.messages('?limit=1')
    ids.push(answer.status === 200 ? messageIdOf(answer) : latest!.messageId)
    times.push(latest!.createdAt)
    await app.pass(1_000)
  }
})
afterAll(() => app.stop())

const list = (query = '', key = account.testKey): Promise<Answer> => app.call(`${PATH}${query}`, { key })

async function found(query: string): Promise<string[]> {
  const answer = await list(query)
  expect(answer.status, answer.text).toBe(200)
  return (answer.body['data'] as Message[]).map(message => message.messageId)
}

describe('the list of messages', () => {
  test('is newest first, with every field of a message', async () => {
    const answer = await list()
    expect(Object.keys(answer.body)).toEqual(['success', 'data', 'nextCursor'])
    expect(answer.body).toMatchObject({ success: true, nextCursor: null })
    const data = answer.body['data'] as Message[]
    expect(data.map(message => message.messageId)).toEqual(ids.toReversed())
    expect(data.at(-1)).toEqual({
      id: ids[0],
      messageId: ids[0],
      requestId: ids[0]!.replace('msg', 'req'),
      usageId: ids[0]!.replace('msg', 'usg'),
      mode: 'live',
      status: 'delivered',
      channel: 'local_sms',
      channels: ['local_sms', 'official_chatapp'],
      messageType: 'free_text',
      to: PHONE,
      country: 'US',
      sender: 'Posthorn',
      senderSource: 'platform',
      provider: 'sandbox',
      connectionId: expect.stringMatching(/^cnn_/),
      providerMessageId: expect.stringMatching(/^sbx_/),
      text: 'one',
      subject: null,
      html: false,
      attachment: null,
      conversationContext: null,
      templateId: null,
      bulkJobId: null,
      metadata: null,
      billing: { cost: 0.0079, currency: 'USD', parts: 1, source: 'wallet', state: 'captured' },
      attempts: 1,
      errorCode: null,
      errorMessage: null,
      createdAt: times[0],
      scheduledAt: null,
      sentAt: expect.any(String),
      deliveredAt: expect.any(String),
      readAt: null,
      endedAt: null,
    })
    for (const { createdAt } of data) expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    for (const { messageId } of data) expect(isId('msg', messageId)).toBe(true)
  })

  test('a message that is read begins with its id, as `id` and as `messageId`', async () => {
    expect(Object.entries(await account.message(ids[0]!)).slice(0, 2)).toEqual([
      ['id', ids[0]],
      ['messageId', ids[0]],
    ])
  })

  test.each<[string, () => string, number[]]>([
    ['status', () => '?status=failed', [4]],
    ['a status that no message has', () => '?status=expired', []],
    ['channel', () => '?channel=email_user', [1]],
    // Message 4 was rejected over SMS, and then over the next channel too.
    ['channel, without messages that failed over to another', () => '?channel=local_sms', [2, 0]],
    ['messageType', () => '?messageType=otp', [2]],
    ['to', () => '?to=a@example.com', [1]],
    ['to with an escaped plus', () => `?to=${encodeURIComponent(PHONE)}`, [3, 0]],
    ['to with an unescaped plus', () => `?to=${PHONE}`, [3, 0]],
    ['to with spaces in the number', () => `?to=${encodeURIComponent(spaced(PHONE))}`, [3, 0]],
    ['a recipient that no message has', () => '?to=b@example.com', []],
    ['mode', () => '?mode=live', [4, 3, 2, 1, 0]],
    ['a mode that no message has', () => '?mode=test', []],
    ['errorCode', () => '?errorCode=RECIPIENT_REJECTED', [4]],
    ['an errorCode that no failed message has', () => '?errorCode=INTERNAL_ERROR&status=failed', []],
    ['the errorCode of an expired verification code', () => '?errorCode=VERIFICATION_EXPIRED', []],
    ['templateId', () => `?templateId=tpl_${NOBODYS}`, []],
    ['bulkJobId', () => `?bulkJobId=job_${NOBODYS}`, []],
    ['createdAfter, exclusive', () => `?createdAfter=${times[1]}`, [4, 3, 2]],
    ['createdBefore, exclusive', () => `?createdBefore=${times[1]}`, [0]],
    ['createdAfter and createdBefore', () => `?createdAfter=${times[0]}&createdBefore=${times[3]}`, [2, 1]],
    [
      'createdAfter with a UTC offset',
      () => `?createdAfter=${encodeURIComponent(times[1]!.replace('Z', '+00:00'))}`,
      [4, 3, 2],
    ],
    ...['+00:00', '+0000', '+00', '-00:00'].map((offset): [string, () => string, number[]] => [
      `createdAfter with the unescaped offset ${offset}`,
      () => `?createdAfter=${times[1]!.replace('Z', offset)}`,
      [4, 3, 2],
    ]),
    ['createdAfter to the minute', () => '?createdAfter=2000-01-01T00:00Z', [4, 3, 2, 1, 0]],
    [
      'several parameters at once',
      () => `?channel=local_sms&status=delivered&to=${encodeURIComponent(PHONE)}`,
      [0],
    ],
    ['no parameter if the only one is unknown', () => '?colour=red', [4, 3, 2, 1, 0]],
  ])('is filtered by %s', async (_, query, expected) => {
    expect(await found(query())).toEqual(expected.map(at => ids[at]))
  })

  test.each([
    ['too short', 'templateId', '7'],
    ['empty', 'templateId', ''],
    ['of a job', 'templateId', `job_${NOBODYS}`],
    ['far too long', 'templateId', 'x'.repeat(4_000)],
    ['too short', 'bulkJobId', 'job_1'],
    ['of another alphabet', 'bulkJobId', `job_${NOBODYS.replace('1', 'u')}`],
  ])('is empty, with no next page, for an id that is %s in %s', async (_, filter, id) => {
    const answer = await list(`?${filter}=${id}`)
    expect([answer.status, answer.body]).toEqual([200, { success: true, data: [], nextCursor: null }])
    const refused = await list(`?${filter}=${id}&cursor=bogus&limit=0&status=done&createdAfter=yesterday`)
    expect([refused.status, faultPaths(refused)]).toEqual([400, ['limit', 'status']])
    for (const fault of ['cursor=bogus', 'createdAfter=yesterday']) {
      const one = await list(`?${filter}=${id}&${fault}`)
      expect([one.status, faultPaths(one)]).toEqual([400, [fault.split('=')[0]]])
    }
  })

  test('is filtered by an e-mail address with a plus, escaped or not', async () => {
    const own = await app.createAccount()
    const id = messageIdOf(await own.send({ to: 'ada+shop@example.com', text: 'Hello' }))
    await own.send({ to: 'ada@example.com', text: 'Hello' })
    for (const query of ['?to=ada+shop@example.com', '?to=ada%2Bshop%40example.com']) {
      const answer = await list(query, own.testKey)
      expect((answer.body['data'] as Message[]).map(({ messageId }) => messageId)).toEqual([id])
    }
  })

  test('is paged, and messages sent in between do not shift the pages', async () => {
    const own = await app.createAccount()
    const sent: string[] = []
    for (let count = 0; count < 7; count++)
      sent.unshift(messageIdOf(await own.send({ to: PHONE, text: `${count}` })))
    const pages: string[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const answer: Answer = await list(
        `?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        own.testKey,
      )
      pages.push((answer.body['data'] as Message[]).map(message => message.messageId))
      cursor = answer.body['nextCursor'] as string | null
      await own.send({ to: PHONE, text: 'in between' })
    }
    expect(pages.map(page => page.length)).toEqual([3, 3, 1])
    expect(pages.flat()).toEqual(sent)
  })

  test('has no nextCursor on a page that ends with the last message', async () => {
    expect((await list(`?limit=${ids.length}`)).body['nextCursor']).toBeNull()
    expect((await list(`?limit=${ids.length - 1}`)).body['nextCursor']).toEqual(expect.any(String))
  })

  test('has 50 messages by default, and as many as limit allows', async () => {
    const own = await app.createAccount()
    await Promise.all(Array.from({ length: 51 }, (_, at) => own.send({ to: PHONE, text: `${at}` })))
    const first = await list('', own.testKey)
    expect(first.body['data']).toHaveLength(50)
    expect(first.body['nextCursor']).not.toBeNull()
    expect((await list('?limit=500', own.testKey)).body['data']).toHaveLength(51)
    expect((await list('?limit=1', own.testKey)).body['data']).toHaveLength(1)
  })

  test('has at most 4 MB of text on a page', async () => {
    const own = await app.createAccount()
    const to = Array.from({ length: 12 }, (_, at) => `u${at}@example.com`)
    await app.during(own.send({ to, channel: 'email_user', text: 'x'.repeat(450_000) }))
    for (const filter of ['', '&channel=email_user']) {
      const pages: string[][] = []
      for (let next: unknown = ''; next !== null; ) {
        const { body } = await list(`?limit=500${filter}${next && `&cursor=${next}`}`, own.testKey)
        pages.push((body['data'] as Message[]).map(message => message.to))
        next = body['nextCursor']
      }
      expect(pages.map(page => page.length)).toEqual([9, 3])
      expect(pages.flat().toSorted()).toEqual(to.toSorted())
    }
  })

  test('counts metadata, too, toward the 4 MB of a page', async () => {
    const own = await app.createAccount()
    const to = Array.from({ length: 90 }, (_, at) => `u${at}@example.com`)
    const options = { metadata: '€'.repeat(16_000) }
    await app.during(own.send({ to, channel: 'email_user', text: 'x', options }))
    const first = (await list('?limit=500', own.testKey)).body
    expect((first['data'] as Message[]).length).toBe(84)
    const second = (await list(`?limit=500&cursor=${first['nextCursor']}`, own.testKey)).body
    expect([(second['data'] as Message[]).length, second['nextCursor']]).toEqual([6, null])
  })

  test('has no messages of another account', async () => {
    const other = await app.createAccount()
    expect((await list('', other.testKey)).body['data']).toEqual([])
  })
})

describe('400 for an invalid query', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=bogus', 'cursor'],
    [`cursor=${Buffer.from('acc_x').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from(`job_${NOBODYS}`).toString('base64url')}`, 'cursor'],
    ['status=done', 'status'],
    ['status=', 'status'],
    ['status=SENT', 'status'],
    ['channel=sms', 'channel'],
    ['channel=auto', 'channel'],
    ['messageType=text', 'messageType'],
    ['mode=both', 'mode'],
    ['errorCode=NOT_FOUND', 'errorCode'],
    ['to=', 'to'],
    [`to=${'1'.repeat(321)}`, 'to'],
    ['to=%00', 'to'],
    ['to=%FF', 'to'],
    ['createdAfter=yesterday', 'createdAfter'],
    ['createdAfter=2030-02-30T00:00:00Z', 'createdAfter'],
    ['createdBefore=1700000000', 'createdBefore'],
    ['createdBefore=2030-01-01', 'createdBefore'],
  ])('?%s', async (query, path) => {
    const answer = await list(`?${query}`)
    expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)).toEqual([path])
    expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'))
  })
})

describe('403 for the list of messages', () => {
  test('without messages:read, or when the account’s phone is not verified', async () => {
    const key = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Sends only',
      mode: 'test',
      role: 'member',
      permissions: ['messages:create'],
    })
    const { apiKey } = key.body['data'] as { apiKey: string }
    const unverified = await app.createAccount({ phone: { number: '+12025550123', verified: false } })
    for (const [path, caller] of [
      [PATH, apiKey],
      [PATH, unverified.testKey],
      [`${PATH}/policies`, unverified.testKey],
    ] as const) {
      const answer = await app.call(path, { key: caller })
      expect([answer.status, answer.body['code']], path).toEqual([403, 'FORBIDDEN'])
    }
    // Any valid key may read a single message.
    expect((await list(`/${ids[0]}`, apiKey)).status).toBe(200)
  })
})

describe('a single message', () => {
  test('has the fields of the list and a timeline', async () => {
    const { timeline, ...message } = await account.message(ids[0]!)
    expect(message).toEqual((await account.messages()).at(-1))
    expect(timeline).toEqual([
      { at: times[0], event: 'status', status: 'queued' },
      { at: times[0], event: 'status', status: 'sending' },
      {
        at: times[0],
        event: 'attempt',
        attempt: 1,
        outcome: 'accepted',
        settledAt: message.sentAt,
        provider: 'sandbox',
        connectionId: message.connectionId,
        providerCode: null,
        explanation: null,
        detail: null,
      },
      { at: message.sentAt, event: 'status', status: 'sent' },
      { at: message.deliveredAt, event: 'status', status: 'delivered' },
    ])
  })

  test('can be read with live and test keys', async () => {
    expect((await app.call(`${PATH}/${ids[0]}`, { key: account.liveKey })).status).toBe(200)
  })

  test.each([
    ['unknown', () => `msg_${NOBODYS}`],
    ['malformed', () => 'nonsense'],
    ['the usage id of a message', () => ids[0]!.replace('msg', 'usg')],
    ['too large for a UUID', () => `msg_${'z'.repeat(26)}`],
    ['a NUL character', () => '%00'],
    ['too long', () => `msg_${'0'.repeat(500)}`],
  ])('is not found by an id that is %s', async (_, id) => {
    for (const path of [`${PATH}/${id()}`, `${PATH}/${id()}/cancel`]) {
      const method = path.endsWith('cancel') ? 'POST' : 'GET'
      const answer = await app.call(path, { key: account.testKey, method })
      expect([answer.status, answer.body['code']]).toEqual([404, 'NOT_FOUND'])
    }
  })

  test('is a 400 for an id that is not UTF-8', async () => {
    for (const [method, path] of [
      ['GET', `${PATH}/msg_${NOBODYS}%C3%28`],
      ['POST', `${PATH}/msg_${NOBODYS}%C3%28/cancel`],
    ] as const) {
      const answer = await app.call(path, { key: account.testKey, method })
      expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    }
  })

  test('of another account is not found', async () => {
    const other = await app.createAccount()
    for (const [method, path] of [
      ['GET', `${PATH}/${ids[0]}`],
      ['POST', `${PATH}/${ids[0]}/cancel`],
    ] as const) {
      const answer = await app.call(path, { method, key: other.liveKey })
      expect([answer.status, answer.body['error']]).toEqual([404, 'Message not found'])
    }
  })
})

test('policies list every connection and channel, with these fields', async () => {
  const answer = await app.call(`${PATH}/policies`, { key: account.testKey })
  expect(Object.keys(answer.body)).toEqual(['success', 'data'])
  const data = answer.body['data'] as Record<string, unknown>[]
  expect(data.map(policy => policy['channel'])).toEqual([
    'local_sms',
    'int_sms',
    'official_chatapp',
    'user_chatapp_session',
    'botapp_bot',
    'email_user',
  ])
  expect(data[0]).toEqual({
    providerKey: 'sandbox',
    channel: 'local_sms',
    enabled: true,
    allowedTypes: ['otp', 'utility', 'marketing', 'free_text'],
    sendModeByType: {
      otp: 'plain_text',
      utility: 'plain_text',
      marketing: 'plain_text',
      free_text: 'plain_text',
    },
    requiresApprovedTemplate: false,
    supportsUserSender: true,
    supportsSystemSenderFallback: true,
    priorityOrder: 1_000,
    retryPolicy: { maxAttempts: 5, backoffMs: 500 },
  })
})

function spaced(phone: string): string {
  return `${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`
}
