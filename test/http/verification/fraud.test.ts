import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BlockView } from '../../../src/contract/fraud.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'
import { startReceiver } from '../../support/receiver.ts'
import { codeFor, type Verifications, verifications } from '../../support/verification.ts'

let app: TestApp
let account: TestAccount
let ver: Verifications

/** Noon of today, so that no test runs into the next day. */
const NOON_MS = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000
const PLAN = { verificationRateLimitPerSecond: 100_000 }

beforeAll(async () => {
  app = await startTestApp({ startMs: NOON_MS, env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount({ plan: PLAN })
  ver = verifications(app, account)
})

const live = (to: string, more: object = {}) => ver.post('send', { to, ...more }, { live: true })

async function settings(body: object): Promise<void> {
  const answer = await app.admin('PUT', `/accounts/${account.id}/fraud`, body)
  expect(answer.status, answer.text).toBe(200)
}

async function blocks(query = ''): Promise<BlockView[]> {
  const answer = await app.call(`/api/v2/verification/blocks${query}`, { key: account.liveKey })
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as BlockView[]
}

function expectBlocked(answer: Answer): void {
  expect([answer.status, answer.body['code']], answer.text).toEqual([429, 'RATE_LIMITED'])
  expect(answer.body['retryAfterSeconds']).toBeGreaterThanOrEqual(1)
  expect(answer.headers.get('retry-after')).toBe(String(answer.body['retryAfterSeconds']))
}

/** A number of a range that differs in its last four digits. */
const inRange = (n: number) => `+1305555${String(1_000 + n)}`

describe('fraud rules for codes to one recipient', () => {
  const TO = '+13055550100'

  test('five codes in ten minutes pass; the sixth is blocked and listed until the window moves on', async () => {
    for (let n = 0; n < 5; n++) {
      expect((await live(TO)).status).toBe(200)
      await app.leap(60_000)
    }
    const before = await account.footprint()
    const refused = await live(TO)
    expectBlocked(refused)
    // The first one was a little more than five minutes ago.
    expect(refused.body['retryAfterSeconds']).toBeLessThanOrEqual(300)
    expect(refused.body['retryAfterSeconds']).toBeGreaterThan(280)
    expect(await account.footprint()).toEqual(before)
    expect(await blocks()).toMatchObject([
      { action: 'blocked', rule: 'recipient', to: TO, country: 'US', channel: 'local_sms', clientIp: null },
    ])
    expectBlocked(await live(TO))
    await app.leap(300_000)
    expect((await live(TO)).status).toBe(200)
  })

  test('of concurrent sends on two nodes exactly five pass', async () => {
    const database = await createTestDatabase()
    const nodes = [await startTestApp({ database }), await startTestApp({ database })]
    try {
      const shared = await nodes[0]!.createAccount({ plan: PLAN })
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          verifications(nodes[n % 2]!, shared).post('send', { to: TO }, { live: true }),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(195)
    } finally {
      await Promise.all(nodes.map(node => node.stop()))
      await database.drop()
    }
  })

  test('resends count, and sends that are not accepted do not', async () => {
    await settings({ recipient: { sends: 2 } })
    const poor = await app.createAccount({ plan: PLAN, balance: 0 })
    for (let n = 0; n < 8; n++) {
      const answer = await verifications(app, poor).post('send', { to: TO }, { live: true })
      expect(answer.status, answer.text).toBe(402)
    }
    const started = await live(TO)
    await app.leap(61_000)
    const { verificationId } = started.body
    expect((await ver.post('resend', { verificationId }, { live: true })).status).toBe(200)
    expectBlocked(await live(TO))
  })

  test('of simultaneous resends for the last place the others are too soon, and no blocks', async () => {
    await settings({ recipient: { sends: 2 } })
    const { verificationId } = (await live(TO)).body
    await app.leap(61_000)
    const resend = () => ver.post('resend', { verificationId }, { live: true })
    const answers = await Promise.all([resend(), resend(), resend()])
    expect(answers.map(({ body }) => body['code'] ?? 'sent').sort()).toEqual([
      ...['RESEND_TOO_SOON', 'RESEND_TOO_SOON', 'sent'],
    ])
    expect(await blocks()).toEqual([])
  })

  test('a replay does not count as a new code', async () => {
    await settings({ recipient: { sends: 2 } })
    const again = () => ver.post('send', { to: TO }, { live: true, idempotencyKey: 'the same' })
    const first = await again()
    for (let n = 0; n < 4; n++) expect((await again()).text).toBe(first.text)
    expect((await live(TO)).status).toBe(200)
    // Also at the limit, the replay is the former response and no block.
    expect((await again()).text).toBe(first.text)
    expectBlocked(await live(TO))
    expect(await blocks()).toHaveLength(1)
  })

  test('an expired idempotency key is free again, and its send can be blocked', async () => {
    const again = () => ver.post('send', { to: TO }, { live: true, idempotencyKey: 'of the day before' })
    expect((await again()).status).toBe(200)
    await settings({ allowedCountries: { mode: 'block', countries: ['DE'] } })
    expect((await again()).status).toBe(200)
    await app.db.query({
      name: 'age_key',
      text: `update idempotency set created_at = created_at - interval '25 hours' where key = $1`,
      values: ['of the day before'],
    })
    expectBlocked(await again())
  })

  test('concurrent requests with one idempotency key count as one code', async () => {
    await settings({ recipient: { sends: 1 } })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        ver.post('send', { to: TO }, { live: true, idempotencyKey: 'at once' }),
      ),
    )
    // The others get a conflict or a replay.
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
    expect(await account.inbox(TO)).toHaveLength(1)
    expect(await blocks()).toEqual([])
  })

  test('a code that no channel accepted does not count', async () => {
    await settings({ recipient: { sends: 2 }, spend: { dailyCap: 0.05 } })
    for (let n = 0; n < 12; n++) {
      const answer = await live('+13055550002')
      expect([answer.status, answer.body['code']], String(n)).toEqual([400, 'RECIPIENT_REJECTED'])
    }
    expect(await blocks()).toEqual([])
  })

  test('a rule in monitor mode lists only codes that were sent', async () => {
    await settings({ allowedCountries: { mode: 'monitor', countries: ['DE'] } })
    const poor = await app.createAccount({ plan: PLAN, balance: 0 })
    await app.admin('PUT', `/accounts/${poor.id}/fraud`, {
      allowedCountries: { mode: 'monitor', countries: ['DE'] },
    })
    expect((await verifications(app, poor).post('send', { to: TO }, { live: true })).status).toBe(402)
    const none = await app.call('/api/v2/verification/blocks', { key: poor.liveKey })
    expect(none.body['data']).toEqual([])
    expect((await live(TO)).status).toBe(200)
    const watched = await app.until(blocks, list => list.length > 0)
    expect(watched).toMatchObject([{ action: 'monitored', rule: 'allowedCountries' }])
  })

  test('other spellings of an address count as the same recipient', async () => {
    await settings({ recipient: { sends: 2 } })
    const spellings = [
      ['someone@münchen.example', 'Someone+1@xn--mnchen-3ya.example', 'SOMEONE@MÜNCHEN.example'],
      ['jose\u0301@example.com', 'jos\u00e9+news@example.com', 'JOS\u00c9@example.com'],
      ['+13055550155', '+1 (305) 555-0155', '+1-305-555.0155'],
    ]
    for (const [one, two, three] of spellings) {
      expect((await live(one!)).status, one).toBe(200)
      expect((await live(two!)).status, two).toBe(200)
      expectBlocked(await live(three!))
    }
    // A safe recipient is safe in each spelling; a sub-address has to be listed itself.
    await settings({ recipient: { sends: 1 }, safe: ['vip@xn--mnchen-3ya.example', '+553187654321'] })
    for (let n = 0; n < 3; n++) expect((await live('VIP@münchen.example')).status).toBe(200)
    for (let n = 0; n < 3; n++) expect((await live('+5531987654321')).status).toBe(200)
  })
})

describe('fraud rules for codes to one range of numbers', () => {
  test('unconfirmed codes are blocked at the limit, for that range only', async () => {
    await settings({ prefix: { unverified: 10 } })
    for (let n = 0; n < 10; n++) expect((await live(inRange(n))).status, String(n)).toBe(200)
    const before = await account.footprint()
    for (let n = 10; n < 13; n++) expectBlocked(await live(inRange(n)))
    expect(await account.footprint()).toEqual(before)
    expect((await live('+12125550100')).status).toBe(200)
    const [last] = await blocks('?rule=prefix')
    expect(last).toMatchObject({
      action: 'blocked',
      to: inRange(12),
      reason: 'More codes than usual go to numbers that begin with +1305555, and nobody confirms them.',
    })
  })

  test('confirmed codes are not limited', async () => {
    await settings({ prefix: { unverified: 5 } })
    for (let n = 0; n < 20; n++) {
      const to = inRange(100 + n)
      const { verificationId } = await ver.start({ to }, { live: true })
      const answer = await ver.post(
        'verify',
        { verificationId, code: await codeFor(account, to) },
        { live: true },
      )
      expect(answer.status, answer.text).toBe(200)
    }
    expect(await blocks()).toEqual([])
  })

  test('codes sent by other nodes count, also on a node that starts later', async () => {
    const database = await createTestDatabase()
    const [one, two] = [await startTestApp({ database }), await startTestApp({ database })]
    const nodes = [one, two]
    try {
      const shared = await one.createAccount({ plan: PLAN })
      await one.admin('PUT', `/accounts/${shared.id}/fraud`, { prefix: { unverified: 10 } })
      const send = (node: TestApp, n: number) =>
        verifications(node, shared).post('send', { to: inRange(n) }, { live: true })
      // Both nodes have loaded the account before it reaches the limit.
      expect((await send(two, 0)).status).toBe(200)
      for (let n = 1; n < 10; n++) expect((await send(one, n)).status).toBe(200)
      for (const node of [two, one, two]) await node.pass(2_000)
      expectBlocked(await send(two, 10))
      // Its own code was held back until it heard of the others.
      for (const node of [two, one]) await node.pass(2_000)
      const three = await startTestApp({ database })
      nodes.push(three)
      expectBlocked(await send(three, 11))
    } finally {
      await Promise.all(nodes.map(node => node.stop()))
      await database.drop()
    }
  })

  test('codes with a low conversion are blocked even when they are sent slowly', async () => {
    await settings({ prefix: { mode: 'off' }, country: { mode: 'off' }, conversion: { sends: 10 } })
    for (let n = 0; n < 25; n++) {
      const answer = await live(inRange(200 + n))
      if (answer.status !== 200) break
      await app.leap(150_000)
    }
    const [block] = await blocks()
    expect(block).toMatchObject({ rule: 'conversion', action: 'blocked' })
    expect(block!.reason).toBe('Codes to numbers that begin with +1305555 are hardly ever confirmed.')
  })
})

describe('other fraud rules', () => {
  test('too many codes for one client IP are blocked', async () => {
    await settings({ clientIp: { sends: 3 } })
    const ask = (n: number, clientIp: string) => live(`+1212555${1_000 + 10 * n}`, { clientIp })
    for (let n = 0; n < 3; n++) expect((await ask(n, '203.0.113.7')).status).toBe(200)
    expectBlocked(await ask(3, '203.0.113.7'))
    expectBlocked(await ask(4, '::ffff:203.0.113.7'))
    expect((await ask(5, '203.0.113.8')).status).toBe(200)
    // An IPv6 address counts by its network.
    for (let n = 6; n < 9; n++) expect((await ask(n, `2001:db8:1:2::${n}`)).status).toBe(200)
    expectBlocked(await ask(9, '2001:db8:1:2:ffff::1'))
    expect((await ask(10, '2001:db8:1:3::1')).status).toBe(200)
    expect(await blocks('?rule=clientIp')).toHaveLength(3)
  })

  test('codes to countries and number types that are not allowed are blocked', async () => {
    await settings({ allowedCountries: { countries: ['US', 'GB'] } })
    expect((await live('+447400123456')).status).toBe(200)
    // No plan has assigned it; the sandbox, which takes it, pays nobody.
    expect((await live('+447700900123')).status).toBe(200)
    expectBlocked(await live('+4915112345678'))
    expect((await live('someone@example.com', { channel: 'email_user' })).status).toBe(200)
    await settings({ numberType: { types: ['unallocated', 'fixed'] } })
    // By the chat app, which a fixed line may have: SMS refuses it by itself.
    expectBlocked(await live('+493012345678', { channel: 'official_chatapp' }))
    expect((await blocks()).map(({ rule, country }) => [rule, country])).toEqual([
      ['numberType', 'DE'],
      ['allowedCountries', 'DE'],
    ])
  })

  test('codes beyond the daily spend cap are blocked until midnight', async () => {
    await live('+12125550111')
    const { captured, held } = (await account.footprint()).wallet
    const price = (captured + held) / 1_000_000
    expect(price).toBeGreaterThan(0)
    await settings({ spend: { dailyCap: Number((price * 3).toFixed(6)) } })
    expect((await live('+12125550112')).status).toBe(200)
    expect((await live('+12125550113')).status).toBe(200)
    const refused = await live('+12125550114')
    expectBlocked(refused)
    const untilMidnight = (86_400_000 - (app.now() % 86_400_000)) / 1_000
    expect(refused.body['retryAfterSeconds']).toBeGreaterThanOrEqual(untilMidnight)
    expect(refused.body['retryAfterSeconds']).toBeLessThan(untilMidnight + 5)
    expect((await blocks())[0]).toMatchObject({ rule: 'spend', reason: expect.stringContaining('USD') })
  })

  test('safe recipients and test keys are never blocked, and monitor mode only lists', async () => {
    await settings({ recipient: { sends: 1 }, safe: ['+1212555*'] })
    for (let n = 0; n < 3; n++) expect((await live('+12125550120')).status).toBe(200)
    for (let n = 0; n < 3; n++) expect((await ver.post('send', { to: '+13055550120' })).status).toBe(200)
    expect(await blocks()).toEqual([])
    await settings({
      recipient: { mode: 'monitor', sends: 1 },
      allowedCountries: { mode: 'monitor', countries: [] },
    })
    for (let n = 0; n < 2; n++) expect((await live('+13055550120')).status).toBe(200)
    // The response does not wait for the list to be written.
    const watched = await app.until(
      () => blocks('?action=monitored'),
      list => list.length >= 3,
    )
    expect(watched.map(({ rule }) => rule)).toEqual(['recipient', 'allowedCountries', 'allowedCountries'])
    expect(await blocks('?action=blocked')).toEqual([])
  })

  test('a rule in monitor mode lists a code once, even when several ranges around it break the rule', async () => {
    await settings({ prefix: { mode: 'monitor', unverified: 5 } })
    for (let n = 0; n < 12; n++) expect((await live(`+13055560${100 + n}`)).status).toBe(200)
    // Entries are written in order, so once the last one is listed, all before it are.
    await settings({ prefix: { mode: 'off' }, allowedCountries: { mode: 'monitor', countries: [] } })
    expect((await live('+13055560199')).status).toBe(200)
    const watched = await app.until(
      () => blocks('?action=monitored&limit=100'),
      list => list.some(({ rule }) => rule === 'allowedCountries'),
    )
    const byPrefix = watched.filter(({ rule }) => rule === 'prefix').map(({ to }) => to)
    expect(byPrefix.length).toBeGreaterThan(0)
    expect(byPrefix).toEqual([...new Set(byPrefix)])
  })

  test('webhook events are sent for blocked codes, but not for monitored ones', async () => {
    const receiver = await startReceiver()
    try {
      const made = await app.call('/api/v2/webhooks', {
        method: 'POST',
        key: account.liveKey,
        body: { url: receiver.url(), events: ['verification.blocked'] },
      })
      expect(made.status, made.text).toBe(201)
      await settings({ recipient: { mode: 'monitor', sends: 1 }, allowedCountries: { countries: ['US'] } })
      for (let n = 0; n < 2; n++) expect((await live('+13055550140')).status).toBe(200)
      expectBlocked(await live('+447400123440'))
      await app.during(receiver.count(1))
      expect(receiver.got.map(({ body }) => body)).toMatchObject([
        { type: 'verification.blocked', data: (await blocks('?action=blocked'))[0] },
      ])
    } finally {
      await receiver.close()
    }
  })

  test('metrics count blocks by rule, and contain no recipient', async () => {
    await settings({ recipient: { sends: 1 } })
    await live('+13055550130')
    expectBlocked(await live('+13055550130'))
    const { text } = await app.call('/metrics', { headers: { authorization: `Bearer ${app.operatorToken}` } })
    expect(text).toMatch(/posthorn_verification_blocks_total\{rule="recipient",action="blocked"\} \d+/)
    expect(text).not.toContain('3055550130')
  })
})

describe('GET /api/v2/verification/blocks', () => {
  test('pages and filters the blocks of the account only', async () => {
    await settings({ allowedCountries: { countries: ['US'] } })
    const numbers = Array.from({ length: 7 }, (_, n) => `+49151123456${10 + n}`)
    for (const to of numbers) expectBlocked(await live(to))
    expectBlocked(await live('+447400123456'))
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const answer = await app.call(`/api/v2/verification/blocks?country=DE&limit=3${query}`, {
        key: account.testKey,
      })
      seen.push(...(answer.body['data'] as BlockView[]).map(({ to }) => to))
      cursor = answer.body['nextCursor'] as string | null
    }
    expect(seen).toEqual(numbers.toReversed())
    expect(await blocks('?to=%2B447400123456')).toHaveLength(1)
    expect(await blocks('?to=%2B44%207400%20123456')).toHaveLength(1)
    expect(await blocks(`?createdAfter=${new Date(app.now() + 1_000).toISOString()}`)).toEqual([])
    expect(await blocks(`?createdBefore=${new Date(app.now() + 1_000).toISOString()}`)).toHaveLength(8)
    const other = await app.createAccount()
    const foreign = await app.call('/api/v2/verification/blocks', { key: other.liveKey })
    expect(foreign.body['data']).toEqual([])
  })

  test.each([
    ['action=maybe', 'action'],
    ['rule=luck', 'rule'],
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['cursor=none', 'cursor'],
    ['createdAfter=yesterday', 'createdAfter'],
    ['country=Germany', 'country'],
    ['country=de', 'country'],
    ['country=ZZ', 'country'],
  ])('rejects ?%s', async (query, path) => {
    const answer = await app.call(`/api/v2/verification/blocks?${query}`, { key: account.liveKey })
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body['details']).toMatchObject([{ path }])
  })

  test('returns 401 without a key', async () => {
    expect((await app.call('/api/v2/verification/blocks')).status).toBe(401)
  })
})
