import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Receiver, startReceiver, verify } from '../../support/receiver.ts'

let app: TestApp
let receiver: Receiver
let account: TestAccount

beforeAll(async () => {
  receiver = await startReceiver()
  app = await startTestApp({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  account = await app.createAccount()
})
afterAll(async () => {
  await app.stop()
  await receiver.close()
})

const request = (body: unknown, key = account.liveKey) =>
  app.call('/api/v2/sms-senders', { method: 'POST', key, body })
const senderOf = (answer: Answer) =>
  (answer.body['data'] as { smsSender: { id: string; status: string } }).smsSender
const makeDefault = (id: string, key = account.liveKey) =>
  app.call(`/api/v2/sms-senders/${id}/default`, { method: 'POST', key })

async function newKey(role: string, permissions: string[]): Promise<string> {
  const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
    name: role,
    mode: 'live',
    role,
    permissions,
  })
  return (made.body['data'] as { apiKey: string }).apiKey
}

async function approved(name: string, of = account): Promise<string> {
  const { id } = senderOf(await request({ name }, of.liveKey))
  expect((await app.admin('POST', `/sms-senders/${id}/approve`)).status).toBe(200)
  return id
}

describe('POST /api/v2/sms-senders', () => {
  test('returns 409 when the account has 500 names', async () => {
    const full = await app.createAccount()
    await app.db.query({
      name: 'fill_senders',
      text: `insert into sms_senders (account_id, id, name, status)
        select $1, uuid_at(now()), 'Name ' || n, 'pending' from generate_series(1, 500) n`,
      values: [toUuid(full.id as AccountId)],
    })
    const refused = await request({ name: 'Another' }, full.liveKey)
    expect([refused.status, refused.body['code']]).toEqual([409, 'CONFLICT'])
    const again = await request({ name: 'Name 1' }, full.liveKey)
    expect([again.status, again.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('creates one sender of many concurrent requests for the last free place', async () => {
    const full = await app.createAccount()
    await app.db.query({
      name: 'senders_almost_fill',
      text: `insert into sms_senders (account_id, id, name, status)
        select $1, uuid_at(now()), 'Name ' || n, 'pending' from generate_series(1, 499) n`,
      values: [toUuid(full.id as AccountId)],
    })
    const asked = [...'abcdefgh'].map(letter => request({ name: `Late ${letter}` }, full.liveKey))
    const made = (await Promise.all(asked)).filter(({ status }) => status === 201)
    expect(made).toHaveLength(1)
  })

  test('returns 201 with a pending sender, and never the secret', async () => {
    const answer = await request({
      name: 'Acme Shop',
      webhookUrl: 'https://example.com/senders',
      webhookSecret: 'Sw0rdfish!',
    })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        success: true,
        message: expect.stringMatching(/./),
      },
    })
    // Exactly the fields of the contract.
    expect(senderOf(answer)).toEqual({
      id: expect.stringMatching(/^snd_/),
      name: 'Acme Shop',
      status: 'pending',
      isDefault: false,
      webhookConfigured: true,
    })
    const list = await app.call('/api/v2/sms-senders', { key: account.liveKey })
    expect(list.text + answer.text + app.log.join('')).not.toContain('Sw0rdfish')
  })

  test.each([
    ['letters', 'Bank'],
    ['every kind of allowed character', 'A1 b.c-d_e'],
    ['eleven characters', 'ABCDEFGHIJK'],
    ['three digits', '123'],
    ['fifteen digits', '123456789012345'],
  ])('accepts %s', async (_, name) => {
    expect(await request({ name })).toMatchObject({
      status: 201,
      body: { data: { smsSender: { name, webhookConfigured: false } } },
    })
  })

  test.each<[string, unknown, string]>([
    ['no name', {}, 'name'],
    ['a name that is null', { name: null }, 'name'],
    ['a name that is a number', { name: 12345 }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of two letters', { name: 'Ab' }, 'name'],
    ['a name of twelve letters', { name: 'ABCDEFGHIJKL' }, 'name'],
    ['a name of two digits', { name: '12' }, 'name'],
    ['a name of sixteen digits', { name: '1234567890123456' }, 'name'],
    ['a name with an accented letter', { name: 'Ácme' }, 'name'],
    ['a name with a line break', { name: 'Acme\n' }, 'name'],
    ['a name with an exclamation mark', { name: 'Acme!' }, 'name'],
    ['a name with a plus sign', { name: '+12025550123' }, 'name'],
    ['a name of digits and signs without a letter', { name: '123-456' }, 'name'],
    ['a webhook URL without a secret', { name: 'Fine', webhookUrl: 'https://example.com' }, 'webhookSecret'],
    ['a webhook secret without a URL', { name: 'Fine', webhookSecret: 's' }, 'webhookUrl'],
    [
      'an empty webhook secret',
      { name: 'Fine', webhookUrl: 'https://example.com', webhookSecret: '' },
      'webhookSecret',
    ],
    [
      'a webhook secret with a line break',
      { name: 'Fine', webhookUrl: 'https://example.com', webhookSecret: 'a\r\nX: y' },
      'webhookSecret',
    ],
    [
      'a webhook URL with http',
      { name: 'Fine', webhookUrl: 'http://example.com', webhookSecret: 's' },
      'webhookUrl',
    ],
    [
      'a webhook URL without a scheme',
      { name: 'Fine', webhookUrl: 'example.com', webhookSecret: 's' },
      'webhookUrl',
    ],
    [
      'a webhook URL with a private address',
      { name: 'Fine', webhookUrl: 'https://10.0.0.1/x', webhookSecret: 's' },
      'webhookUrl',
    ],
    [
      'a webhook URL with a private address in hexadecimal',
      { name: 'Fine', webhookUrl: 'https://0x0a000001/', webhookSecret: 's' },
      'webhookUrl',
    ],
    [
      'a webhook URL with a link-local address',
      { name: 'Fine', webhookUrl: 'https://169.254.169.254/', webhookSecret: 's' },
      'webhookUrl',
    ],
    [
      'a webhook URL with localhost',
      { name: 'Fine', webhookUrl: 'https://localhost/', webhookSecret: 's' },
      'webhookUrl',
    ],
    [
      'a webhook URL with a password',
      { name: 'Fine', webhookUrl: 'https://a:b@example.com/', webhookSecret: 's' },
      'webhookUrl',
    ],
  ])('rejects %s', async (_, body, path) => {
    const answer = await request(body)
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_ERROR' } })
    expect(faultPaths(answer)).toEqual([path])
  })

  test('rejects a name that the account already has, but not one of another account', async () => {
    expect((await request({ name: 'Twice' })).status).toBe(201)
    const again = await request({ name: 'Twice' })
    expect(again).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(faultPaths(again)).toEqual(['name'])
    const other = await app.createAccount()
    expect((await request({ name: 'Twice' }, other.liveKey)).status).toBe(201)
  })

  test('accepts one of ten concurrent requests for the same name', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => request({ name: 'Race' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(400)])
  })

  test('is allowed only to owners with the permission', async () => {
    const member = await newKey('member', ['messages:create', 'messages:read'])
    expect(await request({ name: 'Member' }, member)).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
    const ownerWithout = await newKey('owner', ['messages:read'])
    expect((await request({ name: 'Owner' }, ownerWithout)).status).toBe(403)
    expect((await request({ name: 'Nobody' }, 'ph_live_nobody')).status).toBe(401)
    // A member may list senders.
    const list = await app.call('/api/v2/sms-senders', { key: member })
    expect(list.status).toBe(200)
  })
})

describe('GET /api/v2/sms-senders', () => {
  test('pages through the account’s own senders, newest first', async () => {
    const own = await app.createAccount()
    await app.admin('POST', '/sms-senders', { name: 'Platform' })
    for (const name of ['One', 'Two', 'Three']) await request({ name }, own.liveKey)
    const names: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const answer: Answer = await app.call(`/api/v2/sms-senders?limit=2${cursor && `&cursor=${cursor}`}`, {
        key: own.liveKey,
      })
      expect(answer.status).toBe(200)
      names.push(...(answer.body['data'] as { name: string }[]).map(({ name }) => name))
      cursor = answer.body['nextCursor'] as string | null
    }
    expect(names).toEqual(['Three', 'Two', 'One'])
    expect((await app.call('/api/v2/sms-senders?cursor=x', { key: own.liveKey })).status).toBe(400)
    expect((await app.call('/api/v2/sms-senders?limit=0', { key: own.liveKey })).status).toBe(400)
  })
})

describe('POST /api/v2/sms-senders/{id}/default', () => {
  test('makes an approved sender the default of sends', async () => {
    const own = await app.createAccount()
    const [first, second] = [await approved('First', own), await approved('Second', own)]
    expect(await makeDefault(first, own.liveKey)).toMatchObject({
      status: 200,
      body: { data: { isDefault: true } },
    })
    expect((await makeDefault(second, own.liveKey)).status).toBe(200)
    expect((await makeDefault(second, own.liveKey)).status).toBe(200)
    const list = await app.call('/api/v2/sms-senders', { key: own.liveKey })
    expect(list.body['data']).toMatchObject([
      { name: 'Second', isDefault: true },
      { name: 'First', isDefault: false },
    ])
    const sent = await app.until(
      () => own.send({ to: '+12025550142', text: 'Hello', messageType: 'utility' }),
      answer => (answer.body['resolved'] as { senderSource?: string })?.senderSource === 'account_default',
    )
    const { messageId } = sent.body['tracking'] as { messageId: string }
    expect(await own.message(messageId)).toMatchObject({ sender: 'Second' })
  })

  test('leaves one default after ten concurrent requests', async () => {
    const own = await app.createAccount()
    const senders: string[] = []
    for (let at = 0; at < 5; at++) senders.push(await approved(`Name${at}`, own))
    const answers = await Promise.all([...senders, ...senders].map(id => makeDefault(id, own.liveKey)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const list = await app.call('/api/v2/sms-senders', { key: own.liveKey })
    const defaults = (list.body['data'] as { isDefault: boolean }[]).filter(each => each.isDefault)
    expect(defaults).toHaveLength(1)
  })

  test('returns 409 for a sender that is not approved, and 404 for one of another account', async () => {
    const pending = senderOf(await request({ name: 'Pending' }))
    expect(await makeDefault(pending.id)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    await app.admin('POST', `/sms-senders/${pending.id}/reject`, { reason: 'no' })
    expect((await makeDefault(pending.id)).status).toBe(409)
    const other = await app.createAccount()
    const foreign = await approved('Foreign', other)
    for (const id of [foreign, 'snd_nothing', 'x']) {
      expect(await makeDefault(id)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    }
  })
})

describe('a send with an SMS sender', () => {
  const send = (body: object) =>
    account.send({ to: '+12025550142', text: 'Hello', messageType: 'utility', ...body })

  test('uses the account’s own sender, by id or by name', async () => {
    const id = await approved('Sender')
    for (const body of [{ sender: { id } }, { senderId: id }, { sender: { name: 'Sender' } }]) {
      const sent = await app.until(
        () => send(body),
        answer => answer.status === 200,
      )
      expect(sent.body).toMatchObject({ resolved: { senderSource: 'request' } })
    }
  })

  test('is rejected with a sender that is pending, rejected or another account’s', async () => {
    const pending = senderOf(await request({ name: 'Waits' })).id
    const rejected = senderOf(await request({ name: 'Rejected' })).id
    await app.admin('POST', `/sms-senders/${rejected}/reject`, { reason: 'not your brand' })
    const list = await app.call('/api/v2/sms-senders', { key: account.liveKey })
    const reasons = (list.body['data'] as { id: string; reason?: string }[]).map(each => [
      each.id,
      each.reason,
    ])
    expect(Object.fromEntries(reasons)).toMatchObject({ [pending]: undefined, [rejected]: 'not your brand' })
    const foreign = await approved('Elsewhere', await app.createAccount())
    for (const id of [pending, rejected, foreign]) {
      const answer = await send({ sender: { id } })
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
      expect(faultPaths(answer)).toEqual(['sender.id'])
    }
    for (const name of ['Waits', 'Rejected', 'Elsewhere']) {
      expect(faultPaths(await send({ sender: { name } }))).toEqual(['sender.name'])
    }
  })
})

describe('the webhook of an SMS sender', () => {
  const SECRET = 'a secret of theirs'

  test.each([
    ['approved', 'approve', undefined, null],
    ['rejected', 'reject', { reason: 'not your brand' }, 'not your brand'],
  ])('is called once when the sender is %s', async (status, verb, body, reason) => {
    const name = `Told ${status.slice(0, 3)}`
    const asked = await request({ name, webhookUrl: receiver.url(`/${status}`), webhookSecret: SECRET })
    const { id } = senderOf(asked)
    expect((await app.admin('POST', `/sms-senders/${id}/${verb}`, body)).status).toBe(200)
    // A second decision is accepted, and sends no webhook.
    expect((await app.admin('POST', `/sms-senders/${id}/${verb}`, body)).status).toBe(200)
    const [got, ...more] = await app.until(
      async () => receiver.got.filter(({ path }) => path === `/${status}`),
      all => all.length > 0,
    )
    expect(more).toEqual([])
    expect(got!.headers).toMatchObject({
      'x-service-event': `sms_sender.${status}`,
      authorization: `Bearer ${SECRET}`,
      'content-type': 'application/json',
    })
    expect(got!.body).toEqual({
      event: `sms_sender.${status}`,
      id,
      name,
      status,
      reason,
      occurredAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    })
    const atMs = Number(got!.headers['webhook-timestamp']) * 1_000
    expect(verify(got!, SECRET, atMs, 'raw')).toEqual(got!.body)
    expect(got!.headers['webhook-id']).toMatch(/^evt_/)
  })

  test('is signed with both the raw and the decoded secret when it has the whsec_ format', async () => {
    const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
    const asked = await request({
      name: 'Standard',
      webhookUrl: receiver.url('/standard'),
      webhookSecret: secret,
    })
    await app.admin('POST', `/sms-senders/${senderOf(asked).id}/approve`)
    const [got] = await app.until(
      async () => receiver.got.filter(({ path }) => path === '/standard'),
      all => all.length > 0,
    )
    const atMs = Number(got!.headers['webhook-timestamp']) * 1_000
    for (const format of ['raw', 'base64'] as const) verify(got!, secret, atMs, format)
  })

  test('is retried with the same id until it succeeds, and follows no redirect', async () => {
    let answers = 0
    receiver.react(({ path }) => {
      if (path !== '/later') return 200
      answers++
      return answers === 1
        ? { status: 307, headers: { location: receiver.url('/stolen') } }
        : answers === 2
          ? 503
          : 200
    })
    const asked = await request({ name: 'Later', webhookUrl: receiver.url('/later'), webhookSecret: SECRET })
    await app.admin('POST', `/sms-senders/${senderOf(asked).id}/approve`)
    const seen = () => receiver.got.filter(({ path }) => path === '/later')
    const waits = async () =>
      (
        await app.db.query<{ attempts: number }>({
          name: 'waits',
          text: `select attempts from deliveries where status = 'pending' and owner is null`,
        })
      ).rows
    await app.until(waits, rows => rows[0]?.attempts === 2)
    expect(seen()).toHaveLength(2)
    // Makes the delivery due, instead of waiting five minutes.
    await app.db.query({
      name: 'hurry',
      text: `update deliveries set due_at = due_at - interval '6 minutes' where status = 'pending'`,
    })
    await app.until(
      async () => seen().length,
      n => n >= 3,
    )
    expect(new Set(seen().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(receiver.got.some(({ path }) => path === '/stolen')).toBe(false)
    await app.until(
      async () =>
        (
          await app.db.query<{ n: number }>({
            name: 'left',
            text: `select count(*)::integer as n from deliveries where status = 'pending'`,
          })
        ).rows[0]!.n,
      left => left === 0,
    )
    expect(seen()).toHaveLength(3)
  })
})
