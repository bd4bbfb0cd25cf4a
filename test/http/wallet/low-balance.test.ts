import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Receiver, startReceiver, verify } from '../../support/receiver.ts'

let app: TestApp
let receiver: Receiver
let account: TestAccount

beforeAll(async () => {
  receiver = await startReceiver()
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
})
afterAll(async () => {
  await app.stop()
  await receiver.close()
})
beforeEach(async () => {
  account = await app.createAccount({ balance: 10 })
  receiver.got.length = 0
})

const patch = (body: unknown, key = account.liveKey) =>
  app.call('/api/v2/wallet', { method: 'PATCH', key, body })
const low = () => receiver.got.filter(({ body }) => body['type'] === 'wallet.low')

async function listen(): Promise<string> {
  const made = await app.call('/api/v2/webhooks', {
    method: 'POST',
    key: account.liveKey,
    body: { url: receiver.url(), events: ['wallet.low'] },
  })
  return (made.body['data'] as { webhook: { secret: string } }).webhook.secret
}

async function spend(): Promise<void> {
  const sent = await account.send(
    { to: '+12025550142', channel: 'local_sms', content: { text: 'Hello' } },
    { live: true },
  )
  expect(sent.status).toBe(200)
}

describe('PATCH /api/v2/wallet', () => {
  test('sets, shows and removes the threshold', async () => {
    expect(await account.wallet()).toMatchObject({ lowBalance: 0 })
    expect(await patch({ lowBalance: 2.5 })).toMatchObject({
      status: 200,
      body: { success: true, data: { balance: 10, lowBalance: 2.5, currency: 'USD' } },
    })
    expect(await account.wallet()).toMatchObject({ lowBalance: 2.5 })
    // null changes nothing.
    expect(await patch({ lowBalance: null })).toMatchObject({ status: 200 })
    expect(await account.wallet()).toMatchObject({ lowBalance: 2.5 })
    expect(await patch({ lowBalance: 0 })).toMatchObject({ body: { data: { lowBalance: 0 } } })
  })

  test.each([-1, 0.0000001, 1e15, '5', true])('rejects a lowBalance of %j', async lowBalance => {
    const answer = await patch({ lowBalance })
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(faultPaths(answer)).toEqual(['lowBalance'])
  })

  test('is not allowed to members', async () => {
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Member',
      mode: 'live',
      role: 'member',
      permissions: ['messages:create'],
    })
    const { apiKey } = made.body['data'] as { apiKey: string }
    expect(await patch({ lowBalance: 1 }, apiKey)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })

  test('can also be set by the operator', async () => {
    const set = await app.admin('PATCH', `/accounts/${account.id}/wallet`, { lowBalance: 3 })
    expect(set).toMatchObject({ status: 200, body: { data: { lowBalance: 3 } } })
    expect(await account.wallet()).toMatchObject({ lowBalance: 3 })
    const unknown = await app.admin('PATCH', '/accounts/acc_nobody/wallet', { lowBalance: 3 })
    expect(unknown).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    const bad = await app.admin('PATCH', `/accounts/${account.id}/wallet`, { lowBalance: -3 })
    expect(bad.status).toBe(400)
  })
})

describe('the event wallet.low', () => {
  test('is sent once, and again only after the balance has risen above the threshold', async () => {
    const secret = await listen()
    await patch({ lowBalance: 10 })
    await app.pass(5_000)
    // A balance equal to the threshold is not below it.
    expect(low()).toHaveLength(0)

    await spend()
    await app.during(receiver.count(1))
    const { balance } = await account.wallet()
    expect(balance).toBeLessThan(10)
    expect(
      verify(receiver.got[0]!, secret, Number(receiver.got[0]!.headers['webhook-timestamp']) * 1_000),
    ).toEqual({
      type: 'wallet.low',
      id: receiver.got[0]!.headers['webhook-id'],
      timestamp: expect.any(String),
      data: { balance, held: 0, lowBalance: 10, currency: 'USD' },
    })
    await spend()
    await app.pass(5_000)
    expect(low()).toHaveLength(1)

    await app.admin('POST', `/accounts/${account.id}/credits`, { amount: 0.05 })
    await app.pass(5_000)
    expect(low()).toHaveLength(1)
    while ((await account.wallet()).balance >= 10) await spend()
    await app.during(receiver.count(2))
    expect(low()).toHaveLength(2)
  })

  test('is sent at once when the threshold is set above the balance, and not after it is removed', async () => {
    await listen()
    await patch({ lowBalance: 20 })
    await app.during(receiver.count(1))
    expect(low()[0]!.body['data']).toMatchObject({ balance: 10, lowBalance: 20 })
    await patch({ lowBalance: 30 })
    await app.during(receiver.count(2))
    await patch({ lowBalance: 0 })
    await spend()
    await app.pass(5_000)
    expect(low()).toHaveLength(2)
  })
})
