import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type DeliveryView,
  EVENT_TYPES,
  type WebhookView,
  type WebhookWithSecret,
} from '../../../src/contract/webhook.ts'
import { type MessageId, toUuid } from '../../../src/lib/ids.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'
import { type Got, type Receiver, startReceiver, verify } from '../../support/receiver.ts'

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
  account = await app.createAccount()
  receiver.got.length = 0
  receiver.react(200)
})

const call = (method: string, path = '', body?: unknown, key = account.liveKey) =>
  app.call(`/api/v2/webhooks${path}`, { method, key, body })

async function create(body: object = {}): Promise<WebhookWithSecret> {
  const made = await call('POST', '', { url: receiver.url('/hook'), ...body })
  expect(made.status).toBe(201)
  return (made.body['data'] as { webhook: WebhookWithSecret }).webhook
}

async function deliveries(id: string, query = ''): Promise<DeliveryView[]> {
  const answer = await call('GET', `/${id}/deliveries${query}`)
  expect(answer.status).toBe(200)
  return answer.body['data'] as DeliveryView[]
}

const settled = (id: string, count: number) =>
  app.until(
    () => deliveries(id),
    all => all.length === count && all.every(({ status }) => status !== 'pending'),
  )

const deliveryOf = (answer: Answer) => (answer.body['data'] as { delivery: DeliveryView }).delivery
const atMs = (got: Got) => Number(got.headers['webhook-timestamp']) * 1_000
const typesOf = (got: readonly Got[]) => got.map(({ body }) => body['type'])

async function newKey(role: string, permissions: string[]): Promise<string> {
  const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
    name: role,
    mode: 'live',
    role,
    permissions,
  })
  return (made.body['data'] as { apiKey: string }).apiKey
}

describe('webhook endpoints', () => {
  test('are created, listed, read, changed and deleted; the secret is shown once', async () => {
    const made = await create({ description: 'Ours', events: ['message.sent', 'message.sent'] })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^whk_/),
      url: receiver.url('/hook'),
      description: 'Ours',
      events: ['message.sent'],
      enabled: true,
      failingSince: null,
      disabledAt: null,
      disabledReason: null,
      previousSecretValidUntil: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const { secret, ...shown } = made
    const read = await call('GET', `/${made.id}`)
    expect(read.body).toEqual({ success: true, data: shown })
    const listed = await call('GET')
    expect(listed.body).toEqual({ success: true, data: [shown], nextCursor: null })
    expect(read.text + listed.text + app.log.join('')).not.toContain(secret)

    const changed = await call('PATCH', `/${made.id}`, {
      url: receiver.url('/moved'),
      description: '',
      events: ['*'],
      enabled: false,
    })
    expect(changed.body['data']).toMatchObject({
      url: receiver.url('/moved'),
      description: '',
      events: ['*'],
      enabled: false,
      disabledReason: 'request',
    })
    const unsafe = await call('PATCH', `/${made.id}`, { url: 'https://192.168.0.1/' })
    expect(unsafe).toMatchObject({ status: 400, body: { details: [{ path: 'url' }] } })
    expect((await call('PATCH', `/${made.id}`, { enabled: null })).body['data']).toMatchObject({
      enabled: false,
    })
    expect((await call('DELETE', `/${made.id}`)).body).toEqual({
      success: true,
      data: { id: made.id, deleted: true },
    })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/test', undefined],
      ['POST', '/rotate', undefined],
      ['GET', '/deliveries', undefined],
      ['GET', '/deliveries/dlv_x', undefined],
      ['POST', '/deliveries/dlv_x/replay', undefined],
      ['POST', '/replay', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }],
    ] as const) {
      expect(await call(method, `/${made.id}${path}`, body)).toMatchObject({
        status: 404,
        body: { code: 'NOT_FOUND' },
      })
    }
  })

  test('of another account are not found', async () => {
    const { id } = await create()
    const other = await app.createAccount()
    expect((await call('GET', '', undefined, other.liveKey)).body['data']).toEqual([])
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { enabled: false }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', undefined],
      ['POST', '/test', undefined],
      ['GET', '/deliveries', undefined],
    ] as const) {
      expect((await call(method, `/${id}${path}`, body, other.liveKey)).status).toBe(404)
    }
    expect((await call('GET', `/${id}`)).body['data']).toMatchObject({ enabled: true })
  })

  test('need a key with messages:create, of an owner or a member', async () => {
    const member = await newKey('member', ['messages:create'])
    expect((await call('POST', '', { url: receiver.url() }, member)).status).toBe(201)
    const reader = await newKey('owner', ['messages:read'])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/whk_x'],
      ['POST', '/whk_x/rotate'],
    ] as const) {
      const answer = await call(method, path, method === 'POST' ? { url: receiver.url() } : undefined, reader)
      expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
  })

  test.each<[string, unknown, string]>([
    ['no URL', {}, 'url'],
    ['a malformed URL', { url: 'hook' }, 'url'],
    ['an http URL', { url: 'http://example.com/' }, 'url'],
    ['a private address', { url: 'https://192.168.0.1/' }, 'url'],
    ['a private address as an IPv4-mapped IPv6 address', { url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    ['a URL that is too long', { url: `https://example.com/${'a'.repeat(2_048)}` }, 'url'],
    ['an unknown event type', { url: 'https://example.com', events: ['message.lost'] }, 'events[0]'],
    ['an empty list of event types', { url: 'https://example.com', events: [] }, 'events'],
    ['event types that are not a list', { url: 'https://example.com', events: 'message.sent' }, 'events'],
    ['an enabled that is not a boolean', { url: 'https://example.com', enabled: 'yes' }, 'enabled'],
    [
      'a description that is too long',
      { url: 'https://example.com', description: 'a'.repeat(501) },
      'description',
    ],
  ])('are rejected with %s', async (_, body, path) => {
    const answer = await call('POST', '', body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } })
    expect(faultPaths(answer)).toEqual([path])
    expect((await call('GET')).body['data']).toEqual([])
  })

  test('are limited to fifty per account', async () => {
    const made = await Promise.all(
      Array.from({ length: 51 }, () => call('POST', '', { url: receiver.url() })),
    )
    expect(made.map(({ status }) => status).sort()).toEqual([...Array(50).fill(201), 409])
    const pages: number[] = []
    let cursor = ''
    do {
      const answer = await call('GET', `?limit=20${cursor && `&cursor=${cursor}`}`)
      pages.push((answer.body['data'] as WebhookView[]).length)
      cursor = (answer.body['nextCursor'] as string | null) ?? ''
    } while (cursor !== '')
    expect(pages).toEqual([20, 20, 10])
  })

  test('determine together which events of the account are stored', async () => {
    async function storedBySending(): Promise<string[]> {
      const id = messageIdOf(await account.send({ to: '+12025550142', text: 'Hi', messageType: 'utility' }))
      await app.until(
        () => account.message(id),
        ({ status }) => status === 'delivered',
      )
      const { rows } = await app.db.query<{ type: string }>({
        name: 'stored_types',
        text: 'select type from events where message_id = $1 order by at',
        values: [toUuid(id as MessageId)],
      })
      return rows.map(({ type }) => type)
    }
    expect(await storedBySending()).toEqual([])
    const one = await create({ events: ['message.delivered'] })
    expect(await storedBySending()).toEqual(['message.delivered'])
    const two = await create({ events: ['message.sent', 'message.failed'] })
    expect(await storedBySending()).toEqual(['message.sent', 'message.delivered'])
    await call('PATCH', `/${one.id}`, { enabled: false })
    expect(await storedBySending()).toEqual(['message.sent'])
    await call('PATCH', `/${two.id}`, { events: ['message.failed'] })
    expect(await storedBySending()).toEqual([])
    await call('PATCH', `/${two.id}`, { events: ['*'] })
    expect(await storedBySending()).toEqual(['message.sent', 'message.delivered'])
    await call('DELETE', `/${two.id}`)
    expect(await storedBySending()).toEqual([])
  })

  test('can subscribe to wildcard event types, which are shown as they were given', async () => {
    const told = await create({ events: ['message.*', 'bot.subscriber.*'] })
    const other = await create({ url: receiver.url('/other'), events: ['bulk.*', 'sms_sender.approved'] })
    expect(told.events).toEqual(['message.*', 'bot.subscriber.*'])
    expect((await call('GET', `/${told.id}`)).body['data']).toMatchObject({ events: told.events })
    await account.send({ to: '+12025550142', text: 'Hi', messageType: 'utility' })
    await settled(told.id, 2)
    expect(receiver.got.map(({ path }) => path)).toEqual(['/hook', '/hook'])
    const { rows } = await app.db.query<{ types: string[] }>({
      name: 'heard_types',
      text: 'select event_types as types from accounts where id = $1',
      values: [toUuid(account.id as `acc_${string}`)],
    })
    const families = ['message.', 'bot.subscriber.', 'bulk.']
    const named = EVENT_TYPES.filter(type => families.some(family => type.startsWith(family)))
    expect(rows[0]!.types).toEqual([...named, 'sms_sender.approved'].sort())

    // A replay contains only the types of the endpoint, unless it names types.
    const range = {
      from: new Date(app.now() - 60_000).toISOString(),
      to: new Date(app.now() + 1).toISOString(),
    }
    const replay = async (id: string, events?: string[]) =>
      (await call('POST', `/${id}/replay`, { ...range, ...(events && { events }) })).body['data']
    expect(await replay(other.id)).toEqual({ queued: 0 })
    expect(await replay(other.id, ['message.*'])).toEqual({ queued: 2 })
    expect(await replay(told.id)).toEqual({ queued: 2 })
    await settled(told.id, 4)
  })

  test.each(['message', 'message*', 'message.sent.*', 'subscriber.*', '.*', '**', 'messages.*'])(
    'reject the wildcard type %s',
    async type => {
      const refused = await call('POST', '', { url: receiver.url('/hook'), events: [type] })
      expect(refused.status).toBe(400)
      expect(faultPaths(refused)).toEqual(['events[0]'])
    },
  )
})

describe('webhook events', () => {
  test('of a message are delivered in order, signed', async () => {
    const { id, secret } = await create()
    const sent = await account.send({
      to: '+12025550142',
      text: 'Hello there',
      messageType: 'utility',
      options: { metadata: { order: [1, null] } },
    })
    const all = await settled(id, 2)
    expect(all.map(({ eventType, status }) => [eventType, status])).toEqual([
      ['message.delivered', 'delivered'],
      ['message.sent', 'delivered'],
    ])
    expect(typesOf(receiver.got)).toEqual(['message.sent', 'message.delivered'])
    for (const got of receiver.got) {
      expect(verify(got, secret, atMs(got))).toMatchObject({
        data: {
          id: messageIdOf(sent),
          messageId: messageIdOf(sent),
          mode: 'test',
          to: '+12025550142',
          provider: 'sandbox',
          metadata: { order: [1, null] },
        },
      })
      expect(got.text).not.toContain('Hello there')
    }
  })

  test('of an OTP do not contain the code', async () => {
    const { id } = await create()
    await account.send({ to: '+12025550142', content: { otpCode: '907351' }, messageType: 'otp' })
    await settled(id, 2)
    expect(receiver.got.map(({ text }) => text).join('')).not.toContain('907351')
  })

  test('include a rejected recipient and an undelivered receipt', async () => {
    const { id } = await create()
    await account.send({ to: '+12025550002', text: 'Hi', messageType: 'utility' })
    await account.send({ to: '+12025550004', text: 'Hi', messageType: 'utility' })
    await settled(id, 3)
    const data = receiver.got.map(({ body }) => body['data'] as { status: string; errorCode: string | null })
    expect(data.map(({ status }) => status).sort()).toEqual(['failed', 'sent', 'undelivered'])
    expect(data.find(({ status }) => status === 'failed')!.errorCode).toBe('RECIPIENT_REJECTED')
  })

  test('include a cancelled message and a rejected sender name', async () => {
    const { id } = await create({ events: ['message.cancelled', 'sms_sender.rejected'] })
    const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
    const sent = await account.send({
      to: '+12025550142',
      text: 'Hi',
      messageType: 'utility',
      options: { scheduleAt },
    })
    await app.call(`/api/v2/messages/${messageIdOf(sent)}/cancel`, { method: 'POST', key: account.testKey })
    const asked = await app.call('/api/v2/sms-senders', {
      method: 'POST',
      key: account.liveKey,
      body: { name: 'Acme' },
    })
    const { smsSender } = asked.body['data'] as { smsSender: { id: string } }
    await app.admin('POST', `/sms-senders/${smsSender.id}/reject`, { reason: 'no' })
    await settled(id, 2)
    expect(typesOf(receiver.got).sort()).toEqual(['message.cancelled', 'sms_sender.rejected'])
    const told = receiver.got.find(({ body }) => body['type'] === 'sms_sender.rejected')!
    expect(told.body['data']).toEqual({ id: smsSender.id, name: 'Acme', status: 'rejected', reason: 'no' })
  })
})

describe('POST /api/v2/webhooks/{id}/test', () => {
  test('sends a test event to this endpoint only, whatever its event types', async () => {
    const { id, secret, url } = await create({ events: ['message.failed'] })
    await create({ url: receiver.url('/other') })
    const answer = await call('POST', `/${id}/test`)
    expect(answer.status).toBe(201)
    expect(deliveryOf(answer)).toMatchObject({ eventType: 'webhook.test', status: 'pending', attempts: 0 })
    expect(await settled(id, 1)).toMatchObject([{ id: deliveryOf(answer).id, status: 'delivered' }])
    expect(receiver.got.map(({ path }) => path)).toEqual(['/hook'])
    expect(verify(receiver.got[0]!, secret, atMs(receiver.got[0]!))).toMatchObject({
      type: 'webhook.test',
      data: { webhookId: id, url },
    })
    await call('PATCH', `/${id}`, { enabled: false })
    expect(await call('POST', `/${id}/test`)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  })
})

describe('POST /api/v2/webhooks/{id}/rotate', () => {
  test('shows a new secret once; meanwhile deliveries are signed with both', async () => {
    const { id, secret } = await create()
    const rotated = (await call('POST', `/${id}/rotate`)).body['data'] as WebhookWithSecret
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.previousSecretValidUntil).not.toBeNull()
    await call('POST', `/${id}/test`)
    await settled(id, 1)
    for (const each of [secret, rotated.secret]) verify(receiver.got[0]!, each, atMs(receiver.got[0]!))
    expect((await call('GET', `/${id}`)).body['data']).not.toHaveProperty('secret')
  })
})

describe('webhook deliveries', () => {
  test('are listed newest first, filtered and paged', async () => {
    receiver.react(({ body }) => (body['type'] === 'webhook.test' ? 500 : 200))
    const { id } = await create()
    for (let at = 0; at < 2; at++)
      await account.send({ to: '+12025550142', text: 'Hi', messageType: 'utility' })
    await call('POST', `/${id}/test`)
    await app.until(
      () => deliveries(id),
      all => all.length === 5 && all.every(({ attempts }) => attempts > 0),
    )
    expect(await deliveries(id, '?status=delivered')).toHaveLength(4)
    expect(await deliveries(id, '?status=pending')).toMatchObject([
      { eventType: 'webhook.test', lastStatus: 500, nextAttemptAt: expect.any(String), endedAt: null },
    ])
    expect(await deliveries(id, '?eventType=message.sent&status=delivered')).toHaveLength(2)
    const seen: string[] = []
    let cursor = ''
    do {
      const answer = await call('GET', `/${id}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...(answer.body['data'] as DeliveryView[]).map(each => each.id))
      cursor = (answer.body['nextCursor'] as string | null) ?? ''
    } while (cursor !== '')
    expect(seen).toEqual((await deliveries(id)).map(each => each.id))
    expect(new Set(seen).size).toBe(5)
    // Otherwise the failed delivery would be retried during another test.
    await call('DELETE', `/${id}`)
  })

  test.each(['status=lost', 'eventType=message.lost', 'limit=501', 'cursor=%00', 'cursor=x'])(
    'are rejected for ?%s',
    async query => {
      const { id } = await create()
      expect(await call('GET', `/${id}/deliveries?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      })
    },
  )

  test('show the payload that is sent', async () => {
    const { id } = await create()
    await account.send({
      to: '+12025550143',
      text: 'Hi',
      messageType: 'utility',
      options: { metadata: { order: 7 } },
    })
    const listed = await settled(id, 2)
    for (const [at, delivery] of listed.toReversed().entries()) {
      const { status, body } = await call('GET', `/${id}/deliveries/${delivery.id}`)
      expect(status).toBe(200)
      const { payload, ...rest } = body['data'] as DeliveryView & { payload: object }
      expect(rest).toEqual(delivery)
      expect(payload).toEqual(JSON.parse(receiver.got[at]!.text))
    }
    const other = await create({ url: receiver.url('/other') })
    for (const path of [`/${other.id}/deliveries/${listed[0]!.id}`, `/${id}/deliveries/dlv_x`]) {
      expect(await call('GET', path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    }
  })

  test('can be replayed with the same webhook-id', async () => {
    const { id } = await create()
    await account.send({ to: '+12025550142', text: 'Hi', messageType: 'utility' })
    const [, first] = await settled(id, 2)
    const again = await call('POST', `/${id}/deliveries/${first!.id}/replay`)
    expect(again.status).toBe(201)
    expect(deliveryOf(again)).toMatchObject({
      eventId: first!.eventId,
      replayOf: first!.id,
      status: 'pending',
    })
    await settled(id, 3)
    expect(
      receiver.got.map(({ headers }) => headers['webhook-id']).filter(each => each === first!.eventId),
    ).toHaveLength(2)
    expect(receiver.got[2]!.text).toBe(receiver.got[0]!.text)
    const other = await create({ url: receiver.url('/other') })
    expect((await call('POST', `/${other.id}/deliveries/${first!.id}/replay`)).status).toBe(404)
    await call('PATCH', `/${id}`, { enabled: false })
    expect((await call('POST', `/${id}/deliveries/${first!.id}/replay`)).status).toBe(409)
  })
})

test('a delivery can be replayed by its own id alone', async () => {
  const { id } = await create()
  await account.send({ to: '+12025550146', text: 'Hi', messageType: 'utility' })
  const [, first] = await settled(id, 2)
  const replay = (key?: string) => call('POST', `/deliveries/${first!.id}/replay`, undefined, key)
  const again = await replay()
  expect(again.status).toBe(201)
  expect(deliveryOf(again)).toMatchObject({ eventId: first!.eventId, replayOf: first!.id, status: 'pending' })
  await settled(id, 3)
  const other = await app.createAccount()
  expect(await replay(other.liveKey)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  expect((await call('POST', '/deliveries/dlv_x/replay')).status).toBe(404)
  expect((await call('GET', `/deliveries/${first!.id}/replay`)).status).toBe(405)
  await call('PATCH', `/${id}`, { enabled: false })
  expect((await replay()).status).toBe(409)
  await call('DELETE', `/${id}`)
  expect((await replay()).status).toBe(404)
})

test('replaying a delivery whose event is no longer stored is a 409, and the endpoint does not count as failing', async () => {
  const { id } = await create()
  await account.send({ to: '+12025550144', text: 'Hi', messageType: 'utility' })
  const [, first] = await settled(id, 2)
  // As when the event's month is deleted and the delivery's is not.
  const { rowCount } = await app.db.query({
    name: 'test_forget_event',
    text: 'delete from events where id = $1',
    values: [toUuid(first!.eventId as `evt_${string}`)],
  })
  expect(rowCount).toBe(1)
  expect(await call('POST', `/${id}/deliveries/${first!.id}/replay`)).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', error: 'The event is no longer stored.' },
  })
  expect(await deliveries(id)).toHaveLength(2)
  expect((await call('GET', `/${id}`)).body['data']).toMatchObject({ failingSince: null })
})

test('the audit log has every replay: of one delivery by that delivery, of a time range by its endpoint', async () => {
  const { id } = await create()
  await account.send({ to: '+12025550147', text: 'Hi', messageType: 'utility' })
  const [, first] = await settled(id, 2)
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  expect((await call('POST', `/${id}/deliveries/${first!.id}/replay`)).status).toBe(201)
  expect((await call('POST', `/deliveries/${first!.id}/replay`)).status).toBe(201)
  expect((await call('POST', '/deliveries/dlv_x/replay')).status).toBe(404)
  expect((await call('POST', `/${id}/replay`, range)).status).toBe(202)
  const log = await app.call('/api/v2/audit?action=webhook.replay', { key: account.liveKey })
  expect(log.body['data']).toMatchObject([
    { target: id, changes: range },
    { target: first!.id, changes: {} },
    { target: first!.id, changes: {} },
  ])
  await settled(id, 4)
})

describe('POST /api/v2/webhooks/{id}/replay', () => {
  test('sends the events of a time range, also to an endpoint created later', async () => {
    const early = await create()
    await account.send({ to: '+12025550142', text: 'Hi', messageType: 'utility' })
    await settled(early.id, 2)
    const times = receiver.got.map(({ body }) => body['timestamp'] as string)
    const late = await create({ url: receiver.url('/late') })
    const replay = (body: object) => call('POST', `/${late.id}/replay`, body)
    const end = (time: string) => new Date(Date.parse(time) + 1).toISOString()

    // The end of the range is exclusive.
    expect(await replay({ from: times[0], to: times[1] })).toMatchObject({
      status: 202,
      body: { success: true, data: { queued: 1 }, nextCursor: null },
    })
    expect(
      (await replay({ from: times[0], to: end(times[1]!), events: ['message.delivered'] })).body,
    ).toMatchObject({
      data: { queued: 1 },
    })
    expect((await replay({ from: end(times[1]!), to: end(end(times[1]!)) })).body).toMatchObject({
      data: { queued: 0 },
    })
    await settled(late.id, 2)
    const told = receiver.got.filter(({ path }) => path === '/late')
    expect(typesOf(told)).toEqual(['message.sent', 'message.delivered'])
    for (const got of told) verify(got, late.secret, atMs(got))
  })

  test.each<[string, object, string]>([
    ['no start', { to: '2026-01-01T00:00:00Z' }, 'from'],
    ['no end', { from: '2026-01-01T00:00:00Z' }, 'to'],
    ['a day that does not exist', { from: '2026-02-30T00:00:00Z', to: '2026-03-01T00:00:00Z' }, 'from'],
    ['a time without a zone', { from: '2026-01-01T00:00:00', to: '2026-03-01T00:00:00Z' }, 'from'],
    ['an end before the start', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'to'],
    [
      'an unknown event type',
      { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', events: ['x'] },
      'events[0]',
    ],
    [
      'an invalid cursor',
      { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', cursor: 'x' },
      'cursor',
    ],
  ])('is rejected with %s', async (_, body, path) => {
    const { id } = await create()
    const answer = await call('POST', `/${id}/replay`, body)
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual([path])
  })
})
