import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatMinute } from '../../../src/lib/quiet-hours.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'

/** All of Japan is nine hours ahead of UTC, all year. */
const TOKYO_MS = 9 * 3_600_000
const IN_TOKYO = '+819012345678'
const MINUTE_MS = 60_000
const DAY_MIN = 1_440

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount({ homeCountry: 'JP', plan: { allowsScheduling: false } })
})

const patch = (quietHours: unknown, key = account.liveKey) =>
  app.call('/api/v2/account', { method: 'PATCH', key, body: { quietHours } })
const read = () => account.read<{ quietHours: unknown }>('/api/v2/account')
const marketing = (to: unknown = IN_TOKYO, more: object = {}) => ({
  to,
  messageType: 'marketing',
  text: 'Sale',
  ...more,
})
const scheduledAtOf = (answer: Answer) => answer.body['scheduledAt'] as string | undefined

/** The time by the app's clock, read from a suppression that it creates. */
async function now(): Promise<number> {
  const made = await app.call('/api/v2/suppressions', {
    method: 'POST',
    key: account.liveKey,
    body: { to: '+819000000000' },
  })
  const { suppression } = made.body['data'] as { suppression: { id: string; createdAt: string } }
  await app.call(`/api/v2/suppressions/${suppression.id}`, { method: 'DELETE', key: account.liveKey })
  return Date.parse(suppression.createdAt)
}

/** Sets quiet hours that began an hour ago in Tokyo and end in so many minutes. Returns their end. */
async function beQuiet(minutes: number): Promise<number> {
  const nowMin = Math.floor(((await now()) + TOKYO_MS) / MINUTE_MS)
  const [start, end] = [nowMin - 60, nowMin + minutes].map(each => formatMinute(each % DAY_MIN))
  expect((await patch({ start, end })).status).toBe(200)
  return (nowMin + minutes) * MINUTE_MS - TOKYO_MS
}

describe('the quiet hours of an account', () => {
  test('can be read, set and removed by an owner, on any plan', async () => {
    expect((await read()).quietHours).toBeNull()
    const set = await patch({ start: '21:00', end: '08:00' })
    expect([set.status, (set.body['data'] as { quietHours: unknown }).quietHours]).toEqual([
      200,
      { start: '21:00', end: '08:00' },
    ])
    expect(
      (await app.call('/api/v2/account', { method: 'PATCH', key: account.liveKey, body: {} })).status,
    ).toBe(200)
    expect((await read()).quietHours).toEqual({ start: '21:00', end: '08:00' })
    expect((await patch(null)).status).toBe(200)
    expect((await read()).quietHours).toBeNull()
  })

  test('can be set and removed by the operator too', async () => {
    const answer = await app.admin('PATCH', `/accounts/${account.id}`, {
      quietHours: { start: '22:30', end: '07:15' },
    })
    expect((answer.body['data'] as { quietHours: unknown }).quietHours).toEqual({
      start: '22:30',
      end: '07:15',
    })
    await app.admin('PATCH', `/accounts/${account.id}`, { name: 'Other' })
    expect((await read()).quietHours).toEqual({ start: '22:30', end: '07:15' })
    await app.admin('PATCH', `/accounts/${account.id}`, { quietHours: null })
    expect((await read()).quietHours).toBeNull()
    const bad = await app.admin('PATCH', `/accounts/${account.id}`, {
      quietHours: { start: '08:00', end: '08:00' },
    })
    expect([bad.status, faultPaths(bad)]).toEqual([400, ['quietHours.end']])
  })

  test('cannot be set by members', async () => {
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'member',
      mode: 'live',
      role: 'member',
      permissions: ['messages:create', 'messages:read', 'api_keys:read', 'api_keys:write'],
    })
    const { apiKey } = made.body['data'] as { apiKey: string }
    const answer = await patch({ start: '21:00', end: '08:00' }, apiKey)
    expect([answer.status, answer.body['code']]).toEqual([403, 'FORBIDDEN'])
    expect((await read()).quietHours).toBeNull()
  })

  test.each([
    ['an end that equals the start', { start: '08:00', end: '08:00' }, 'quietHours.end'],
    ['no end', { start: '08:00' }, 'quietHours.end'],
    ['no start', { end: '08:00' }, 'quietHours.start'],
    ['an hour of 24', { start: '24:00', end: '08:00' }, 'quietHours.start'],
    ['a minute of 60', { start: '21:60', end: '08:00' }, 'quietHours.start'],
    ['an hour of one digit', { start: '9:00', end: '08:00' }, 'quietHours.start'],
    ['a time with seconds', { start: '21:00', end: '08:00:00' }, 'quietHours.end'],
    ['a number as time', { start: 21, end: '08:00' }, 'quietHours.start'],
    ['a string in place of the object', '21:00-08:00', 'quietHours'],
    ['an array in place of the object', ['21:00', '08:00'], 'quietHours'],
  ])('are rejected with %s', async (_, quietHours, path) => {
    const answer = await patch(quietHours)
    expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
    expect(faultPaths(answer)[0]).toBe(path)
    expect((await read()).quietHours).toBeNull()
  })
})

describe('a send within quiet hours', () => {
  test('of a marketing message is scheduled for their end, and sent then', async () => {
    const opensMs = await beQuiet(1)
    const sent = await account.send(marketing(), { live: true, idempotencyKey: 'one' })
    expect([sent.status, sent.body['status'], scheduledAtOf(sent)], sent.text).toEqual([
      200,
      'scheduled',
      new Date(opensMs).toISOString(),
    ])
    expect((await account.wallet()).held).toBeGreaterThan(0)
    const leftMs = opensMs - app.now()
    if (leftMs > 10_000) await app.leap(leftMs - 5_000)
    const ended = await app.until(
      () => account.message(messageIdOf(sent)),
      ({ status }) => ['sent', 'delivered'].includes(status),
    )
    expect(Date.parse(ended.sentAt!)).toBeGreaterThanOrEqual(opensMs)
    expect(Date.parse(ended.sentAt!)).toBeLessThan(opensMs + 2_000)
    // The replay is the same after it was sent.
    const again = await account.send(marketing(), { live: true, idempotencyKey: 'one' })
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([sent.text, 'true'])
    // A new send is not deferred any more.
    expect((await app.during(account.send(marketing()))).body['status']).not.toBe('scheduled')
  })

  test('of another message type is sent at once', async () => {
    await beQuiet(30)
    for (const messageType of ['utility', 'free_text']) {
      const sent = await app.during(account.send(marketing(IN_TOKYO, { messageType })))
      expect(sent.body['status']).toBe('sent')
    }
  })

  test('uses the recipient’s time zone, or that of the home country for an e-mail', async () => {
    const opensMs = await beQuiet(30)
    const elsewhere = await app.during(account.send(marketing('+5511912345678')))
    // Half a day apart.
    expect(elsewhere.body['status']).toBe('sent')
    const mail = await account.send(marketing('ada@example.com'))
    expect(scheduledAtOf(mail)).toBe(new Date(opensMs).toISOString())
  })

  test('of a batch is scheduled by the time zone of each recipient', async () => {
    await beQuiet(30)
    const batch = await account.send(marketing([IN_TOKYO, '+5511912345678']))
    const results = batch.body['results'] as { status: string }[]
    expect(results.map(({ status }) => status)).toEqual(['scheduled', 'queued'])
  })

  test('is estimated with its scheduledAt', async () => {
    const opensMs = await beQuiet(30)
    const estimate = await app.call('/api/v2/messages/estimate', {
      method: 'POST',
      key: account.testKey,
      body: marketing(),
    })
    expect(estimate.body['data']).toMatchObject({
      deliverable: true,
      scheduledAt: new Date(opensMs).toISOString(),
    })
  })

  test('can be cancelled until they end', async () => {
    await beQuiet(30)
    const sent = await account.send(marketing(), { live: true })
    const path = `/api/v2/messages/${messageIdOf(sent)}/cancel`
    expect((await app.call(path, { method: 'POST', key: account.liveKey })).status).toBe(200)
    expect((await account.wallet()).held).toBe(0)
  })

  test('to a suppressed recipient is rejected, not scheduled', async () => {
    await beQuiet(30)
    await app.call('/api/v2/suppressions', { method: 'POST', key: account.liveKey, body: { to: IN_TOKYO } })
    expect((await account.send(marketing())).body['code']).toBe('RECIPIENT_SUPPRESSED')
  })
})

describe('a scheduled marketing message', () => {
  const at = (ms: number) => ({ options: { scheduleAt: new Date(ms).toISOString() } })

  test('is moved to the end of quiet hours when it is due within them', async () => {
    account = await app.createAccount({ homeCountry: 'JP' })
    const opensMs = await beQuiet(30)
    const inside = await account.send(marketing(IN_TOKYO, at(opensMs - 60_500)))
    expect(scheduledAtOf(inside)).toBe(new Date(opensMs).toISOString())
    const outside = await account.send(marketing(IN_TOKYO, at(opensMs + 500)))
    expect(scheduledAtOf(outside)).toBe(new Date(opensMs + 500).toISOString())
    const other = await account.send(marketing(IN_TOKYO, { ...at(opensMs - 60_500), messageType: 'utility' }))
    expect(scheduledAtOf(other)).toBe(new Date(opensMs - 60_500).toISOString())
  })

  test('is rejected on a plan without scheduling', async () => {
    const opensMs = await beQuiet(30)
    expect((await account.send(marketing(IN_TOKYO, at(opensMs - 60_500)))).status).toBe(403)
  })
})
