import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultPaths } from '../../support/app.ts'
import { type Operator, startOperator } from '../../support/operator.ts'

let operator: Operator

beforeAll(async () => {
  operator = await startOperator()
})
afterAll(() => operator.stop())

describe('/api/admin/prices', () => {
  test('PUT accepts 20,000 rows of any length and rejects a list with one more', async () => {
    const row = {
      channel: 'official_chatapp',
      messageType: 'marketing',
      price: 123456.123456,
      currency: 'USD',
    }
    const prices = Array.from({ length: 20_000 }, (_, n) => ({ ...row, prefix: `+${1_000_000 + n}` }))
    const put = await operator.admin('PUT', '/prices', { prices })
    expect(put.status, put.text.slice(0, 300)).toBe(200)
    const more = await operator.admin('PUT', '/prices', { prices: [...prices, { ...row, prefix: '+2' }] })
    expect([more.status, faultPaths(more)]).toEqual([400, ['prices']])
  })

  test('PUT replaces the list, GET reads it', async () => {
    const prices = [
      { channel: 'int_sms', country: '*', messageType: '*', price: 0.05, currency: 'USD' },
      { channel: 'int_sms', prefix: '+44', price: 0.041, currency: 'USD' },
    ]
    const put = await operator.admin('PUT', '/prices', { prices })
    expect(put).toMatchObject({ status: 200, body: { success: true } })
    const list = await operator.admin('GET', '/prices')
    expect(list.body).toEqual({
      success: true,
      data: [
        { channel: 'int_sms', country: null, prefix: '44', messageType: '*', price: 0.041, currency: 'USD' },
        { channel: 'int_sms', country: '*', prefix: null, messageType: '*', price: 0.05, currency: 'USD' },
      ],
      nextCursor: null,
    })
  })

  test.each<[string, object, string]>([
    ['a prefix with letters', { prefix: '44x', country: null }, 'prices[0].prefix'],
    ['an unknown channel', { channel: 'auto' }, 'prices[0].channel'],
    ['no price', { price: null }, 'prices[0].price'],
    ['an unknown type', { messageType: 'spam' }, 'prices[0].messageType'],
    ['neither country nor prefix', { country: null }, 'prices[0].country'],
  ])('PUT rejects a price row with %s and names the field', async (_, change, path) => {
    const row = {
      channel: 'int_sms',
      country: 'GB',
      messageType: 'otp',
      price: 1,
      currency: 'USD',
      ...change,
    }
    const answer = await operator.admin('PUT', '/prices', { prices: [row] })
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual([path])
  })
})

describe('/api/admin/connections', () => {
  const MAIL = {
    provider: 'smtp',
    name: 'Mail',
    channels: ['email_user'],
    config: {
      host: 'mail.example.com',
      port: 2525,
      user: 'u',
      password: 'Sw0rdfish!',
      from: 'a@example.com',
    },
  }

  test('are created, updated, tested and deleted, and no response contains a secret', async () => {
    const texts: string[] = []
    const call = async (...args: Parameters<Operator['admin']>) => {
      const answer = await operator.admin(...args)
      texts.push(answer.text)
      return answer
    }
    const made = await call('POST', '/connections', MAIL)
    expect(made).toMatchObject({ status: 201, body: { data: { connection: { secretsSet: ['password'] } } } })
    const { id } = (made.body['data'] as { connection: { id: string } }).connection
    const changed = await call('PATCH', `/connections/${id}`, {
      enabled: false,
      config: { port: null, user: 'v' },
    })
    expect(changed).toMatchObject({
      status: 200,
      body: {
        data: { enabled: false, config: { host: 'mail.example.com', user: 'v' }, secretsSet: ['password'] },
      },
    })
    expect((changed.body['data'] as { config: object }).config).not.toHaveProperty('port')
    expect(await call('GET', '/connections')).toMatchObject({ status: 200, body: { data: [{ id }] } })
    expect(await call('POST', `/connections/${id}/test`)).toMatchObject({
      status: 200,
      body: { success: true, data: { ok: true, detail: 'bound' } },
    })
    const cleared = await call('PATCH', `/connections/${id}`, { config: { password: null, user: null } })
    expect(cleared.body).toMatchObject({ data: { secretsSet: [] } })
    expect(await call('DELETE', `/connections/${id}`)).toMatchObject({
      status: 200,
      body: { data: { deleted: true } },
    })
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      expect(
        (await call(method, `/connections/${id}${path}`, method === 'PATCH' ? {} : undefined)).status,
      ).toBe(404)
    }
    expect(texts.join('')).not.toContain('Sw0rdfish')
  })

  test('do not repeat the value of a secret field in a validation error', async () => {
    const config = { ...MAIL.config, password: { Sw0rdfish: 1 } }
    const answer = await operator.admin('POST', '/connections', { ...MAIL, config })
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual(['config.password'])
    expect(answer.text).not.toContain('Sw0rdfish')
  })

  test.each<[string, object, string]>([
    ['an invalid port', { config: { ...MAIL.config, port: 70_000 } }, 'config.port'],
    ['a channel that the provider does not carry', { channels: ['int_sms'] }, 'channels[0]'],
    ['an empty list of channels', { channels: [] }, 'channels'],
    ['an unknown provider', { provider: 'pigeon' }, 'provider'],
    ['too many attempts', { retryPolicy: { maxAttempts: 21 } }, 'retryPolicy.maxAttempts'],
  ])('are rejected with 400 naming the field: %s', async (_, change, path) => {
    const answer = await operator.admin('POST', '/connections', { ...MAIL, ...change })
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual([path])
  })
})

describe('/api/admin/sms-senders', () => {
  test('POST creates an approved platform sender that can be read and approved again, but not rejected', async () => {
    const made = await operator.admin('POST', '/sms-senders', { name: 'Acme', isDefault: true })
    expect(made).toMatchObject({
      status: 201,
      body: { data: { smsSender: { accountId: null, name: 'Acme', status: 'approved', isDefault: true } } },
    })
    const { id } = (made.body['data'] as { smsSender: { id: string } }).smsSender
    expect((await operator.admin('POST', `/sms-senders/${id}/approve`)).status).toBe(200)
    expect(await operator.admin('POST', `/sms-senders/${id}/reject`, { reason: 'no' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    })
    expect((await operator.admin('POST', `/sms-senders/${id}/reject`, {})).status).toBe(400)
    expect((await operator.admin('GET', '/sms-senders?status=approved')).body['data']).toHaveLength(1)
    expect((await operator.admin('GET', '/sms-senders?status=pending')).body['data']).toEqual([])
    expect((await operator.admin('GET', '/sms-senders?status=odd')).status).toBe(400)
    expect(await operator.admin('GET', `/sms-senders/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id, accountId: null, name: 'Acme', status: 'approved' } },
    })
    for (const other of ['snd_01m84n0sqte82f1yq8k3v8zz9a', 'nothing']) {
      expect((await operator.admin('GET', `/sms-senders/${other}`)).status, other).toBe(404)
    }
  })
})
