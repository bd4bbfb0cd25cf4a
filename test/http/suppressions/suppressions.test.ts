import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SuppressionView } from '../../../src/contract/suppression.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'

const PHONE = '+12025550199'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount()
})

const call = (method: string, path = '', body?: unknown, key = account.liveKey) =>
  app.call(`/api/v2/suppressions${path}`, { method, key, body })

async function suppress(to: string, more: object = {}): Promise<SuppressionView> {
  const answer = await call('POST', '', { to, ...more })
  expect(answer.status, answer.text).toBe(201)
  return (answer.body['data'] as { suppression: SuppressionView }).suppression
}

async function listed(query = '', key = account.liveKey): Promise<SuppressionView[]> {
  const answer = await call('GET', query, undefined, key)
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as SuppressionView[]
}

const marketing = (to: unknown, more: object = {}) => ({
  to,
  messageType: 'marketing',
  text: 'Sale today',
  ...more,
})

function expectSuppressed(answer: Answer): void {
  expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'RECIPIENT_SUPPRESSED'])
  expect(faultPaths(answer)).toEqual(['to'])
}

async function newKey(role: string, permissions: string[]): Promise<string> {
  const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
    name: role,
    mode: 'live',
    role,
    permissions,
  })
  return (made.body['data'] as { apiKey: string }).apiKey
}

describe('the list of suppressions', () => {
  test('creates, lists and deletes a suppression', async () => {
    const made = await suppress('+1 (202) 555-0199', { channel: 'local_sms', reason: 'asked by phone' })
    expect(made).toEqual({
      id: expect.stringMatching(/^sup_/),
      to: PHONE,
      channel: 'local_sms',
      source: 'api',
      reason: 'asked by phone',
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(await listed()).toEqual([made])
    const gone = await call('DELETE', `/${made.id}`)
    expect(gone.body).toEqual({ success: true, data: { id: made.id, deleted: true } })
    expect(await listed()).toEqual([])
    expect((await call('DELETE', `/${made.id}`)).status).toBe(404)
  })

  test('returns the existing suppression for the same recipient and channel, also concurrently', async () => {
    const one = await suppress(PHONE, { reason: 'first' })
    expect(await suppress('+1-202-555-0199', { reason: 'second' })).toEqual(one)
    const sms = await suppress(PHONE, { channel: 'local_sms' })
    expect(sms.id).not.toBe(one.id)
    expect((await listed()).map(({ channel }) => channel)).toEqual(['local_sms', null])
    const many = await Promise.all(Array.from({ length: 8 }, () => suppress('+12025550177')))
    expect(new Set(many.map(({ id }) => id)).size).toBe(1)
  })

  test('compares e-mail addresses without regard to case, and shows their domain in lower case', async () => {
    const one = await suppress('Ada.L@Example.COM')
    expect(one.to).toBe('Ada.L@example.com')
    expect(await suppress('ada.l@example.com')).toEqual(one)
    expect(await listed('?to=ADA.L%40EXAMPLE.com')).toEqual([one])
    const plus = await suppress('ada+shop@example.com')
    expect(await listed('?to=ada+shop@example.com')).toEqual([plus])
    expectSuppressed(await account.send(marketing('ADA.l@example.com')))
  })

  test('compares e-mail domains in Unicode and Punycode as equal', async () => {
    await suppress('ada@münchen.example')
    expectSuppressed(await account.send(marketing('ada@xn--mnchen-3ya.example')))
    expectSuppressed(await account.send(marketing('ADA@MÜNCHEN.example')))
  })

  test('is paged and filtered', async () => {
    const all: SuppressionView[] = []
    for (let n = 10; n < 15; n++)
      all.unshift(await suppress(`+120255501${n}`, n % 2 ? { channel: 'local_sms' } : {}))
    const first = await call('GET', '?limit=2')
    expect(first.body['data']).toEqual(all.slice(0, 2))
    const second = await call('GET', `?limit=2&cursor=${first.body['nextCursor']}`)
    expect(second.body['data']).toEqual(all.slice(2, 4))
    const third = await call('GET', `?limit=2&cursor=${second.body['nextCursor']}`)
    expect([third.body['data'], third.body['nextCursor']]).toEqual([all.slice(4), null])
    expect(all.map(({ channel }) => channel)).toEqual([null, 'local_sms', null, 'local_sms', null])
    expect(await listed('?channel=local_sms')).toEqual(all.filter(({ channel }) => channel === 'local_sms'))
    expect(await listed('?to=%2B12025550110&channel=email_user')).toEqual([])
    expect(await listed(`?to=${encodeURIComponent(all[0]!.to)}`)).toEqual([all[0]])
    expect(await listed(`?to=${all[0]!.to}`)).toEqual([all[0]])
  })

  test('is limited to its account', async () => {
    const made = await suppress(PHONE)
    const other = await app.createAccount()
    expect(await listed('', other.liveKey)).toEqual([])
    const refused = await call('DELETE', `/${made.id}`, undefined, other.liveKey)
    expect([refused.status, refused.body['code']]).toEqual([404, 'NOT_FOUND'])
    expect((await app.during(other.send(marketing(PHONE)))).status).toBe(200)
    expect(await listed()).toEqual([made])
  })

  test('needs messages:create for changes, and any key for reading', async () => {
    const reader = await newKey('member', ['messages:read'])
    expect((await call('POST', '', { to: PHONE }, reader)).status).toBe(403)
    expect((await call('DELETE', '/sup_0', undefined, reader)).status).toBe(403)
    expect(await listed('', reader)).toEqual([])
    expect((await app.call('/api/v2/suppressions')).status).toBe(401)
  })
})

describe('an invalid suppression request is rejected', () => {
  test.each([
    ['an empty body', {}, 'to'],
    ['a recipient that is null', { to: null }, 'to'],
    ['a recipient that is a number', { to: 12025550199 }, 'to'],
    ['a recipient that is an array', { to: [PHONE] }, 'to'],
    ['an invalid recipient', { to: 'nobody' }, 'to'],
    ['an empty recipient', { to: '' }, 'to'],
    ['a recipient that is too long', { to: `${'a'.repeat(400)}@example.com` }, 'to'],
    ['an unknown channel', { to: PHONE, channel: 'sms' }, 'channel'],
    ['the channel auto', { to: PHONE, channel: 'auto' }, 'channel'],
    ['a channel that does not reach the recipient', { to: PHONE, channel: 'email_user' }, 'to'],
    ['local SMS for a foreign number', { to: '+447400123456', channel: 'local_sms' }, 'channel'],
    ['a reason that is not a string', { to: PHONE, reason: 7 }, 'reason'],
    ['a reason that is too long', { to: PHONE, reason: 'x'.repeat(501) }, 'reason'],
  ])('%s', async (_, body, path) => {
    const answer = await call('POST', '', body)
    expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)).toEqual([path])
    expect(await listed()).toEqual([])
  })

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=501', 'limit'],
    ['?channel=sms', 'channel'],
    ['?to=nobody', 'to'],
    ['?cursor=xyz', 'cursor'],
    ['?cursor=bXNnXzAx', 'cursor'],
  ])('%s', async (query, path) => {
    const answer = await call('GET', query)
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual([path])
  })

  test('an unknown or malformed id with 404, and PUT with 405', async () => {
    for (const id of ['x', 'sup_1', `msg_${'0'.repeat(26)}`])
      expect((await call('DELETE', `/${id}`)).status).toBe(404)
    expect((await call('PUT', '', {})).status).toBe(405)
  })
})

describe('a send to a suppressed recipient', () => {
  test('of a marketing message is rejected and stores nothing but the response for replay', async () => {
    await suppress(PHONE)
    const before = await account.footprint()
    expectSuppressed(await account.send(marketing(PHONE), { live: true }))
    expect(await account.footprint()).toEqual(before)
    const first = await account.send(marketing(PHONE), { live: true, idempotencyKey: 'one' })
    expectSuppressed(first)
    const again = await account.send(marketing(PHONE), { live: true, idempotencyKey: 'one' })
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expect(await account.footprint()).toEqual({ ...before, keys: before.keys + 1 })
  })

  test('of another message type is sent', async () => {
    await suppress(PHONE)
    for (const messageType of ['utility', 'free_text']) {
      expect((await app.during(account.send({ to: PHONE, messageType, text: 'Hi' }))).status).toBe(200)
    }
    const otp = { to: PHONE, messageType: 'otp', content: { otpCode: '123456' } }
    expect((await app.during(account.send(otp))).status).toBe(200)
  })

  test('is sent over another channel only when the request names it', async () => {
    await suppress(PHONE, { channel: 'local_sms' })
    expectSuppressed(await account.send(marketing(PHONE)))
    expectSuppressed(await account.send(marketing(PHONE, { channel: 'local_sms' })))
    const answer = await app.during(account.send(marketing(PHONE, { channel: 'official_chatapp' })))
    expect(answer.status, answer.text).toBe(200)
    await suppress(PHONE, { channel: 'official_chatapp' })
    expectSuppressed(await account.send(marketing(PHONE, { channel: 'official_chatapp' })))
  })

  test('is rejected on every channel when all channels are suppressed', async () => {
    await suppress(PHONE)
    expectSuppressed(await account.send(marketing(PHONE)))
    expectSuppressed(await account.send(marketing(PHONE, { channel: 'official_chatapp' })))
  })

  test('fails alone in a batch', async () => {
    await suppress(PHONE)
    const answer = await account.send(marketing(['+12025550101', PHONE, '+12025550102']))
    expect(answer.status).toBe(207)
    const results = answer.body['results'] as { status: string; code?: string }[]
    expect(results.map(({ status, code }) => [status, code])).toEqual([
      ['queued', undefined],
      ['failed', 'RECIPIENT_SUPPRESSED'],
      ['queued', undefined],
    ])
  })

  test('is estimated with the same result', async () => {
    await suppress(PHONE)
    const estimate = async (body: unknown) => {
      const answer = await app.call('/api/v2/messages/estimate', {
        method: 'POST',
        key: account.testKey,
        body,
      })
      return answer.body['data'] as Record<string, unknown>
    }
    expect(await estimate(marketing(PHONE))).toMatchObject({
      deliverable: false,
      reasons: [{ code: 'RECIPIENT_SUPPRESSED', path: 'to' }],
      billing: null,
    })
    expect(await estimate({ ...marketing(PHONE), messageType: 'utility' })).toMatchObject({
      deliverable: true,
    })
  })

  test('fails at its scheduled time, with its hold released, when the recipient was suppressed meanwhile', async () => {
    const now = Date.parse((await suppress('+12025550100')).createdAt)
    const at = new Date(now + 5_000).toISOString()
    const ids: string[] = []
    for (const messageType of ['marketing', 'utility']) {
      const sent = await account.send(
        { to: PHONE, messageType, text: 'Later', options: { scheduleAt: at } },
        { live: true },
      )
      expect(sent.body['status']).toBe('scheduled')
      ids.push(messageIdOf(sent))
    }
    expect((await account.wallet()).held).toBeGreaterThan(0)
    await suppress(PHONE, { channel: 'local_sms' })
    const ended = await app.until(
      () => Promise.all(ids.map(id => account.message(id))),
      all => all.every(({ status }) => status !== 'scheduled' && status !== 'sending'),
    )
    expect(ended[0]).toMatchObject({ status: 'failed', billing: { state: 'released' } })
    expect(JSON.stringify(ended[0])).toContain('RECIPIENT_SUPPRESSED')
    expect(['sent', 'delivered']).toContain(ended[1]!.status)
    expect((await account.wallet()).held).toBe(0)
    expect(await account.inbox(PHONE)).toHaveLength(1)
  })
})
