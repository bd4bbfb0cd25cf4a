import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timeOf } from '../../../src/lib/ids.ts'
import { faultPaths, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { allRefused, refused, replays } from './refusal.ts'

const PHONE = '+12025550100'

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

describe('402 INSUFFICIENT_BALANCE', () => {
  const INSUFFICIENT = { status: 402, code: 'INSUFFICIENT_BALANCE' }
  const attachment = { type: 'image', base64: 'QUJD' }

  test.each([
    ['nothing of the price', 0, { to: PHONE, text: 'Hello' }],
    ['a millionth less than the price', 0.007899, { to: PHONE, text: 'Hello' }],
    ['one part of two', 0.0079, { to: PHONE, text: 'a'.repeat(161) }],
    ['nothing of a message with an attachment', 0, { to: 'a@example.com', text: 'Hello', attachment }],
    ['nothing of a scheduled message', 0, { to: PHONE, text: 'Hello', options: { scheduleAt: inDays(30) } }],
  ])('when the wallet covers %s', async (_, balance, body) => {
    await refused(await app.createAccount({ balance }), body, INSUFFICIENT)
  })

  function inDays(days: number): string {
    return new Date(Date.now() + days * 86_400_000).toISOString()
  }

  test('is replayed for the same key even after a credit; a new key succeeds', async () => {
    const poor = await app.createAccount({ balance: 0 })
    const body = { to: PHONE, text: 'Hello' }
    const options = { live: true, idempotencyKey: 'before the credit' }
    const first = await poor.send(body, options)
    expect(first.status).toBe(402)
    await app.admin('POST', `/accounts/${poor.id}/credits`, { amount: 0.0079 })
    await replays(poor, body, first, options)
    const second = await poor.send(body, { live: true, idempotencyKey: 'after the credit' })
    expect([second.status, await poor.wallet()]).toMatchObject([200, { balance: 0, captured: 0.0079 }])
  })

  test('for a message of ten parts at the highest price, which no wallet covers', async () => {
    const { body } = await app.admin('GET', '/prices?limit=500')
    const price = {
      channel: 'local_sms',
      country: '*',
      messageType: '*',
      price: 858_993_459.2,
      currency: 'JPY',
    }
    const list = (body['data'] as Record<string, unknown>[]).map(({ country, prefix, ...row }) => ({
      ...row,
      ...(country === null ? { prefix } : { country }),
    }))
    expect(
      (await app.admin('PUT', '/prices', { prices: [...list, { ...price, price: 858_993_459.200001 }] }))
        .status,
    ).toBe(400)
    expect((await app.admin('PUT', '/prices', { prices: [...list, price] })).status).toBe(200)
    const body10 = { to: PHONE, text: 'a'.repeat(1_530) }
    await refused(await app.createAccount({ currency: 'JPY', balance: 8_589_934_591 }), body10, INSUFFICIENT)
    const rich = await app.createAccount({ currency: 'JPY', balance: 8_589_934_592 })
    expect((await rich.send(body10, { live: true })).status).toBe(200)
    expect(await rich.wallet()).toMatchObject({ balance: 0, captured: 8_589_934_592 })
  })

  test('for concurrent sends beyond what the wallet covers, and the others succeed', async () => {
    const rich = await app.createAccount({ balance: 0.0079 * 7 })
    const sends = Array.from({ length: 20 }, () => rich.send({ to: PHONE, text: 'Hello' }, { live: true }))
    const statuses = (await Promise.all(sends)).map(answer => answer.status)
    expect(statuses.filter(status => status === 200)).toHaveLength(7)
    expect(statuses.filter(status => status === 402)).toHaveLength(13)
    expect(await rich.wallet()).toMatchObject({ balance: 0, held: 0, captured: 0.0553 })
    expect(await rich.footprint()).toMatchObject({ messages: 7, outbox: 0 })
  })
})

describe('403 FORBIDDEN', () => {
  test('for a scheduled send on a plan without scheduling, and names the plan and the field', async () => {
    const plain = await app.createAccount({ plan: { name: 'default', allowsScheduling: false } })
    const now = timeOf(messageIdOf(await plain.send({ to: PHONE, text: 'Hello' })) as 'msg_')
    const body = { to: PHONE, text: 'Hello', options: { scheduleAt: new Date(now + 60_000).toISOString() } }
    const answer = await refused(plain, body, { status: 403, code: 'FORBIDDEN' })
    expect(answer.body['error']).toContain('default')
    expect(faultPaths(answer)).toEqual(['options.scheduleAt'])
    await app.admin('PATCH', `/accounts/${plain.id}`, { plan: { allowsScheduling: true } })
    const allowed = await app.until(
      () => plain.send(body),
      ({ status }) => status !== 403,
    )
    expect(allowed.body['status']).toBe('scheduled')
  })
})

describe('404 NOT_FOUND', () => {
  test('for an unknown template, whatever else is in the body', async () => {
    const uses = [
      { id: 'tpl_01jd0000000000000000000001' },
      { id: 'nonsense' },
      { key: 'welcome' },
      {
        id: 'x',
        variablesIndexed: ['a'],
        variablesNamed: { 1: 'a' },
        headerMediaUrl: 'https://example.com/a.png',
      },
    ]
    const bodies = uses.flatMap(template => [
      { to: PHONE, template },
      { to: PHONE, channel: 'official_chatapp', messageType: 'otp', template },
    ])
    await allRefused(account, bodies, { status: 404, code: 'NOT_FOUND' })
  })

  test('for an unknown asset as attachment', async () => {
    const body = {
      to: PHONE,
      channel: 'user_chatapp_session',
      attachment: { type: 'image', assetId: 'ast_1' },
    }
    await refused(account, body, { status: 404, code: 'NOT_FOUND' })
  })
})
