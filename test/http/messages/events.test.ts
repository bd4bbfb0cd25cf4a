import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import type { Message } from '../../../src/contract/message.ts'
import { createMessageWatch } from '../../../src/core/messages/watch.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { join, setUp } from '../../support/console.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { type EventStream, openStream } from '../../support/event-stream.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const PATH = '/api/v2/messages/events'
const PHONE = '+12025550100'

let database: TestDatabase
/** Two nodes on one database. */
let app: TestApp
let other: TestApp
let account: TestAccount
const open: EventStream[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  app = await startTestApp({ database })
  other = await startTestApp({ database, startMs: app.now() })
  account = await app.createAccount()
  // The first stream gets a second reset, which covers the changes made before it.
  const first = await follow()
  for (let resets = 0; resets < 2; resets++) await app.during(first.nextOf('reset'))
})
afterAll(async () => {
  for (const stream of open) stream.close()
  await other.stop()
  await app.stop()
  await database.drop()
})

async function follow(
  query = '',
  headers: Record<string, string> = { 'x-api-key': account.testKey },
  at = app,
): Promise<EventStream> {
  const stream = await openStream(`${at.url}${PATH}${query}`, headers)
  open.push(stream)
  return stream
}

/** The next message event that matches, while the test clock runs. */
function nextMessage(
  stream: EventStream,
  holds: (message: Message) => boolean = () => true,
  at = app,
): Promise<Message> {
  return at.during(stream.nextOf<Message>('message', holds))
}

describe('the event stream of messages', () => {
  test('sends a reset first, then each changed message as the list shows it', async () => {
    const stream = await follow()
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    expect(stream.headers.get('cache-control')).toBe('no-store')
    expect((await stream.next())?.event).toBe('reset')
    const id = messageIdOf(await account.send({ to: PHONE, text: 'one' }))
    const first = await nextMessage(stream)
    expect(first).toMatchObject({ id, messageId: id })
    // Of several changes within a second only the last is sent.
    const isLast = ({ status }: Message) => status === 'delivered'
    const last = isLast(first) ? first : await nextMessage(stream, isLast)
    expect(last).toEqual((await account.messages('?limit=1'))[0])
  })

  test('sends only messages that match its filters', async () => {
    const [failed, mail, live] = [
      await follow('?status=failed&errorCode=RECIPIENT_REJECTED'),
      await follow('?channel=email_user&to=a%40example.com&messageType=utility'),
      await follow('?mode=live'),
    ]
    await account.send({
      to: 'a@example.com',
      messageType: 'utility',
      content: { subject: 'Hi', text: 'mail' },
    })
    await account.send({ to: '+12025550002', text: 'refused' })
    await account.send({ to: PHONE, text: 'paid for' }, { live: true })
    expect(await nextMessage(failed)).toMatchObject({ to: '+12025550002', status: 'failed' })
    expect(await nextMessage(mail)).toMatchObject({ text: 'mail' })
    expect(await nextMessage(live)).toMatchObject({ text: 'paid for', mode: 'live' })
  })

  test('opens for a malformed id in a filter, as for one that does not exist', async () => {
    for (const query of ['?templateId=tpl_1', '?bulkJobId=']) {
      const stream = await follow(query)
      expect([stream.status, (await stream.next())?.event]).toEqual([200, 'reset'])
    }
  })

  test('sends a message that is cancelled', async () => {
    const stream = await follow('?status=cancelled')
    const at = new Date(app.now() + 3_600_000).toISOString()
    const id = messageIdOf(await account.send({ to: PHONE, text: 'later', options: { scheduleAt: at } }))
    await app.call(`/api/v2/messages/${id}/cancel`, { method: 'POST', key: account.testKey })
    expect((await nextMessage(stream)).messageId).toBe(id)
  })

  test('sends changes made on another node', async () => {
    const stream = await follow('', undefined, other)
    expect((await stream.next())?.event).toBe('reset')
    const id = messageIdOf(await account.send({ to: PHONE, text: 'from over there' }))
    expect(await nextMessage(stream, message => message.messageId === id, other)).toMatchObject({ to: PHONE })
  })

  test('resumes at Last-Event-ID on any node, and sends a reset when the id is too old or invalid', async () => {
    const stream = await follow()
    const before = messageIdOf(await account.send({ to: PHONE, text: 'before' }))
    await nextMessage(stream, message => message.messageId === before && message.status === 'delivered')
    stream.close()
    const between = messageIdOf(await account.send({ to: PHONE, text: 'between' }))
    const headers = { 'x-api-key': account.testKey, 'last-event-id': stream.place.id }
    const again = await follow('', headers, other)
    const events = []
    for (let event = await again.next(); event; event = await again.next()) {
      events.push(event)
      if (event.data.includes(between)) break
    }
    expect(events.map(({ event }) => event)).not.toContain('reset')
    app.jump(120_000)
    other.jump(120_000)
    expect((await (await follow('', headers)).next())?.event).toBe('reset')
    const wrong = { ...headers, 'last-event-id': 'x'.repeat(500) }
    expect((await (await follow('', wrong)).next())?.event).toBe('reset')
  })

  test('sends no changes from before it, also if an earlier stream of the account ended on this node', async () => {
    const clock = createFakeClock(app.now())
    const view = async (_: unknown, rows: readonly { id: string }[]) =>
      rows.map(({ id }) => ({ messageId: id }) as Message)
    const watch = createMessageWatch({ db: app.db, clock, view })
    const watcher = { account: { id: account.id } as Caller['account'], filter: {}, cursor: undefined }
    const [earlier, later] = [new AbortController(), new AbortController()]
    expect((await (await watch.follow(watcher, earlier.signal)).next()).value?.kind).toBe('reset')
    earlier.abort()
    await account.send({ to: PHONE, text: 'between' })
    clock.skip(app.now() - clock.now() + 30_000)
    const stream = await watch.follow(watcher, later.signal)
    expect((await stream.next()).value?.kind).toBe('reset')
    const id = messageIdOf(await account.send({ to: PHONE, text: 'after' }))
    const next = stream.next()
    await clock.advance(1_000)
    expect((await next).value).toMatchObject({ kind: 'message', message: { messageId: id } })
    later.abort()
  })

  test('records no changes for an account without streams', async () => {
    const quiet = await app.createAccount()
    await quiet.send({ to: PHONE, text: 'unseen' })
    const { rows } = await app.db.query<{ n: number }>({
      name: 't_moves',
      text: 'select count(*) as n from message_moves where account_id = $1',
      values: [toUuid(quiet.id as `acc_${string}`)],
    })
    expect(rows[0]!.n).toBe(0)
  })

  test('sends a reset when the changes exceed a page of the list', async () => {
    const heavy = await app.createAccount()
    const stream = await follow('', { 'x-api-key': heavy.testKey })
    expect((await stream.next())?.event).toBe('reset')
    const content = { subject: 'long', text: '€'.repeat(400_000) }
    for (let n = 0; n < 5; n++) await heavy.send({ to: 'a@example.com', content })
    expect((await app.during(stream.next()))?.event).toBe('reset')
    expect(await heavy.messages('?limit=5')).toHaveLength(4)
  })

  test('sends no messages of another account', async () => {
    const stranger = await app.createAccount()
    const stream = await follow('', { 'x-api-key': stranger.testKey })
    await account.send({ to: PHONE, text: 'not yours' })
    const own = messageIdOf(await stranger.send({ to: PHONE, text: 'yours' }))
    expect((await nextMessage(stream)).messageId).toBe(own)
  })
})

describe('the event stream of messages ends', () => {
  const ended = (stream: EventStream) =>
    app.during(
      (async () => {
        while (await stream.next());
        return true
      })(),
    )

  test('when its API key is deleted', async () => {
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Short',
      mode: 'test',
      role: 'member',
      permissions: ['messages:read'],
    })
    const { key, apiKey } = made.body['data'] as { key: { id: string }; apiKey: string }
    const stream = await follow('', { 'x-api-key': apiKey })
    await app.admin('DELETE', `/accounts/${account.id}/keys/${key.id}`)
    expect(await ended(stream)).toBe(true)
  })

  test('when its session logs out', async () => {
    await setUp(app)
    const member = await join(app, account.id, 'member', 'reader@example.com', ['messages:read'])
    const stream = await follow('', { cookie: member.cookie(), 'x-posthorn-account': account.id })
    expect((await stream.next())?.event).toBe('reset')
    expect((await member.call('POST', '/api/console/logout')).status).toBe(200)
    expect(await ended(stream)).toBe(true)
  })

  test('when its client does not read it', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(app.url).port) })
    socket.on('error', () => {})
    const closed = new Promise<boolean>(resolve => socket.once('close', () => resolve(true)))
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.testKey}\r\n\r\n`)
    await new Promise(resolve => socket.once('readable', resolve))
    // More than the socket buffers of both sides hold.
    const text = 'x'.repeat(500_000)
    // Sent in several rounds, since the stream sends at most a page at once.
    for (let n = 0; n < 30; n++) {
      await account.send({ to: 'a@example.com', content: { subject: `${n}`, text } })
      if (n % 3 === 2) await app.pass(1_000)
    }
    await app.leap(31_000)
    socket.resume()
    expect(await closed).toBe(true)
  })
})

describe('a request for the event stream is rejected', () => {
  test.each([
    ['status=lost', 'status'],
    ['mode=demo', 'mode'],
    ['errorCode=NOPE', 'errorCode'],
    ['createdAfter=yesterday', 'createdAfter'],
  ])('with 400 for ?%s', async (query, path) => {
    const answer = await app.call(`${PATH}?${query}`, { key: account.testKey })
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.text).toContain(`"path":"${path}"`)
  })

  test('with 401 without a key, and 403 for a key without messages:read', async () => {
    expect((await app.call(PATH)).status).toBe(401)
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Writer',
      mode: 'test',
      role: 'member',
      permissions: ['messages:create'],
    })
    const { apiKey } = made.body['data'] as { apiKey: string }
    expect((await app.call(PATH, { key: apiKey })).status).toBe(403)
  })

  test('with 429 beyond 50 streams of an account, until one is closed', async () => {
    const busy = await app.createAccount()
    const headers = { 'x-api-key': busy.testKey }
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow('', headers)))
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
    const more = await app.call(PATH, { key: busy.testKey })
    expect([more.status, more.headers.has('retry-after')]).toEqual([429, true])
    streams[0]!.close()
    const status = () => follow('', headers).then(stream => stream.status)
    expect(await app.until(status, each => each === 200)).toBe(200)
  })
})
