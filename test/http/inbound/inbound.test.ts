import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InboundMessageView } from '../../../src/contract/inbound-message.ts'
import type { SuppressionView } from '../../../src/contract/suppression.ts'
import { AUTH_TOKEN, twilioFixture } from '../../channels/twilio.exchange.ts'
import {
  type Answer,
  faultPaths,
  messageIdOf,
  startTestApp,
  type TestAccount,
  type TestApp,
} from '../../support/app.ts'
import { openStream } from '../../support/event-stream.ts'
import { type HttpPeer, startHttpPeer } from '../../support/http-peer.ts'
import { type Receiver, startReceiver, verify } from '../../support/receiver.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

const PUBLIC_URL = 'https://posthorn.example.org'
const PERSON = '+447700900123'
const NUMBER = '+15005550006'

let app: TestApp
let peer: HttpPeer
let receiver: Receiver
let account: TestAccount
let shared: string
let own: string
let nth = 0

beforeAll(async () => {
  receiver = await startReceiver()
  peer = await startHttpPeer((_, count) => twilioFixture.taken(count))
  app = await startTestApp({
    env: { POSTHORN_PUBLIC_URL: PUBLIC_URL, POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
  shared = await connect()
}, 60_000)
afterAll(async () => {
  await app.stop()
  await Promise.all([peer.close(), receiver.close()])
})
beforeEach(async () => {
  account = await app.createAccount()
  own = await connect({ accountId: account.id })
  receiver.got.length = 0
})

async function connect(more: object = {}): Promise<string> {
  const answer = await app.admin('POST', '/connections', {
    provider: 'twilio',
    name: `twilio ${++nth}`,
    channels: ['local_sms', 'int_sms'],
    config: twilioFixture.configFor(peer.url),
    ...more,
  })
  expect(answer.status, answer.text).toBe(201)
  return (answer.body['data'] as { connection: { id: string } }).connection.id
}

/** Calls the webhook as Twilio does for a message to one of its numbers. */
function write(text: string, more: Record<string, string> = {}, connectionId = own): Promise<Answer> {
  const reported = { MessageSid: `SMin${++nth}`, SmsStatus: 'received', From: PERSON, To: NUMBER, Body: text }
  return callBack({ ...reported, ...more }, connectionId)
}

/** Calls the webhook with a valid Twilio signature. */
function callBack(fields: Record<string, string>, connectionId = own): Promise<Answer> {
  const path = `/webhooks/twilio/${connectionId}`
  const names = Object.keys(fields).sort()
  const signed = PUBLIC_URL + path + names.map(name => name + fields[name]).join('')
  return app.during(
    app.call(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': createHmac('sha1', AUTH_TOKEN).update(signed).digest('base64'),
      },
      body: new URLSearchParams(fields).toString(),
    }),
  )
}

const inbound = (query = '', of = account) => of.read<InboundMessageView[]>(`/api/v2/inbound${query}`)
const suppressions = (of = account) => of.read<SuppressionView[]>('/api/v2/suppressions')
const marketing = (of = account, more: object = {}) =>
  app.during(of.send({ to: PERSON, messageType: 'marketing', text: 'Sale', ...more }, { live: true }))
const codeOf = (answer: Answer) => [answer.status, answer.body['code']]
const SUPPRESSED = [400, 'RECIPIENT_SUPPRESSED']

/** A new SMS sender of an account, still to be approved. */
async function requestSender(of: TestAccount, name: string): Promise<string> {
  const asked = await app.call('/api/v2/sms-senders', { method: 'POST', key: of.liveKey, body: { name } })
  return (asked.body['data'] as { smsSender: { id: string } }).smsSender.id
}

/** Creates an approved SMS sender, so that messages to it belong to the account. */
async function createSender(of: TestAccount, name: string): Promise<void> {
  expect((await app.admin('POST', `/sms-senders/${await requestSender(of, name)}/approve`)).status).toBe(200)
}

describe('an inbound message', () => {
  test('is stored before the webhook response, and listed', async () => {
    const answer = await write('Hello & thanks')
    expect([answer.status, answer.text]).toEqual([200, '<Response/>'])
    expect(answer.headers.get('content-type')).toContain('text/xml')
    expect(await inbound()).toEqual([
      {
        id: expect.stringMatching(/^inb_/),
        channel: 'int_sms',
        from: PERSON,
        to: NUMBER,
        text: 'Hello & thanks',
        button: null,
        buttonTitle: null,
        media: [],
        location: null,
        contacts: [],
        replyTo: null,
        contact: null,
        keyword: null,
        receivedAt: expect.stringMatching(/Z$/),
        sentAt: null,
        provider: 'twilio',
        connectionId: own,
        providerMessageId: expect.stringMatching(/^SMin/),
        conversationContext: null,
      },
    ])
  })

  test('is stored once when its webhook call is repeated, also concurrently', async () => {
    const again = { MessageSid: 'SMagain' }
    await write('Once', again)
    await write('Once', again)
    await Promise.all(Array.from({ length: 5 }, () => write('Once', { MessageSid: 'SMmany' })))
    expect((await inbound()).map(({ providerMessageId }) => providerMessageId).sort()).toEqual([
      'SMagain',
      'SMmany',
    ])
  })

  test('from the home country of the account has the channel local_sms', async () => {
    await write('Hi', { From: '+12025550177' })
    expect((await inbound())[0]).toMatchObject({ channel: 'local_sms', from: '+12025550177' })
  })

  test('is sent to webhook endpoints in full, as are the suppressions that STOP and START change', async () => {
    const made = await app.call('/api/v2/webhooks', {
      method: 'POST',
      key: account.liveKey,
      body: {
        url: receiver.url(),
        events: ['inbound.message', 'suppression.created', 'suppression.deleted'],
      },
    })
    const { secret } = (made.body['data'] as { webhook: { secret: string } }).webhook
    await write('STOP')
    await write('Start')
    const got = () => receiver.got.map(({ body }) => body['type'] as string).sort()
    await app.until(
      async () => got(),
      types => types.length === 6,
    )
    expect(got()).toEqual([
      'inbound.message',
      'inbound.message',
      'suppression.created',
      'suppression.created',
      'suppression.deleted',
      'suppression.deleted',
    ])
    const reported = receiver.got
      .filter(({ body }) => body['type'] === 'inbound.message')
      .map(({ body }) => body['data'])
    expect(reported).toEqual(expect.arrayContaining(await inbound()))
    const stop = receiver.got.find(({ body }) => body['type'] === 'suppression.created')!
    expect(stop.body['data']).toMatchObject({ to: PERSON, source: 'stop' })
    expect(() => verify(stop, secret, Number(stop.headers['webhook-timestamp']) * 1_000)).not.toThrow()
  })

  test('creates no event if no webhook endpoint subscribes to it', async () => {
    await write('STOP')
    const { rows } = await app.db.query<{ n: number }>({
      name: 't_events',
      text: `select count(*)::integer as n from events e where e.type = 'inbound.message'
               and e.account_id = (select account_id from connections where id = (select connection_id from inbound_messages order by id desc limit 1))`,
    })
    expect(rows[0]!.n).toBe(0)
  })

  test('with a forged signature returns 401 and is not stored', async () => {
    const answer = await app.call(`/webhooks/twilio/${own}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'AAAA' },
      body: `MessageSid=SM1&SmsStatus=received&From=%2B447700900123&To=%2B15005550006&Body=STOP`,
    })
    expect(answer.status).toBe(401)
    expect([await inbound(), await suppressions()]).toEqual([[], []])
  })

  test('with NUL characters is stored without them', async () => {
    await write('a\0b', { From: `${PERSON}\0` })
    expect((await inbound())[0]).toMatchObject({ text: 'ab', from: PERSON })
  })
})

describe('an inbound message over a shared connection', () => {
  test('belongs to the account that has the number as its sender', async () => {
    await createSender(account, '15005550111')
    await write('Hello', { To: '+15005550111' }, shared)
    expect(await inbound()).toMatchObject([{ text: 'Hello', connectionId: shared }])
  })

  test('belongs to the operator if several accounts or none have the number as sender', async () => {
    const other = await app.createAccount()
    await createSender(account, '15005550222')
    await createSender(other, '15005550222')
    await write('Two', { To: '+15005550222' }, shared)
    await write('None', { To: '+15005550333' }, shared)
    expect([await inbound(), await inbound('', other)]).toEqual([[], []])
    const kept = await app.admin('GET', '/inbound?limit=2')
    expect((kept.body['data'] as InboundMessageView[]).map(({ text }) => text)).toEqual(['None', 'Two'])
    expect((await app.call('/api/admin/inbound')).status).toBe(401)
  })
})

describe('STOP', () => {
  test('suppresses marketing by SMS at once, and nothing else; START lifts the suppression', async () => {
    expect((await marketing()).status).toBe(200)
    await write(' Stop! ')
    expect((await suppressions()).map(({ to, channel, source }) => [to, channel, source]).sort()).toEqual([
      [PERSON, 'int_sms', 'stop'],
      [PERSON, 'local_sms', 'stop'],
    ])
    expect((await inbound())[0]).toMatchObject({ text: ' Stop! ', keyword: 'stop' })
    expect(codeOf(await marketing(account, { channel: 'int_sms' }))).toEqual(SUPPRESSED)
    // A send without a channel is rejected too: no other channel is tried.
    expect(codeOf(await marketing())).toEqual(SUPPRESSED)
    expect((await marketing(account, { channel: 'official_chatapp' })).status).toBe(200)
    expect((await marketing(account, { messageType: 'utility' })).status).toBe(200)
    await write('START')
    expect(await suppressions()).toEqual([])
    expect((await marketing(account, { channel: 'int_sms' })).status).toBe(200)
  })

  test('sent twice adds nothing, and START keeps a suppression that the account created', async () => {
    const body = { to: PERSON, channel: 'int_sms' }
    await app.call('/api/v2/suppressions', { method: 'POST', key: account.liveKey, body })
    await write('STOP')
    await write('stop')
    expect(await suppressions()).toHaveLength(2)
    await write('UNSTOP')
    expect((await suppressions()).map(({ channel, source }) => [channel, source])).toEqual([
      ['int_sms', 'api'],
    ])
  })

  test('within a longer text is not a keyword', async () => {
    await write('Please stop sending me this')
    expect(await suppressions()).toEqual([])
    expect((await inbound())[0]).toMatchObject({ keyword: null })
  })

  test('to one account does not suppress sends of another account', async () => {
    const other = await app.createAccount()
    await write('STOP')
    expect((await marketing(other, { channel: 'int_sms' })).status).toBe(200)
  })

  test('to a shared number applies to accounts that use it, not to own senders or other connections', async () => {
    const [one, two] = [await app.createAccount(), await app.createAccount()]
    const person = { From: '+447700900555', To: '+15005550999' }
    const send = (of: TestAccount, more: object = {}) =>
      app.during(
        of.send(
          { to: person.From, channel: 'int_sms', messageType: 'marketing', text: 'Sale', ...more },
          { live: true },
        ),
      )
    await createSender(two, 'Two')
    await write('STOP', person, shared)
    expect(codeOf(await send(one))).toEqual(SUPPRESSED)
    expect((await send(two, { sender: { name: 'Two' } })).status).toBe(200)
    // Its own connection is tried first, and has no suppression.
    expect((await send(account)).status).toBe(200)
    expect(await suppressions(one)).toEqual([])

    const listed = await app.admin('GET', `/suppressions?to=${encodeURIComponent(person.From)}`)
    const rows = listed.body['data'] as (SuppressionView & { connectionId: string })[]
    expect(rows.map(({ connectionId, source }) => [connectionId, source])).toEqual([
      [shared, 'stop'],
      [shared, 'stop'],
    ])
    for (const { id } of rows) expect((await app.admin('DELETE', `/suppressions/${id}`)).status).toBe(200)
    expect((await send(one)).status).toBe(200)
    expect((await app.admin('DELETE', `/suppressions/${rows[0]!.id}`)).status).toBe(404)
  })

  test('to a shared number still applies to an account that requests its name as an own sender', async () => {
    const one = await app.createAccount()
    const person = { From: '+447700900556', To: '+15005550999' }
    const made = await app.admin('POST', '/sms-senders', { name: 'Shared' })
    const { smsSender } = made.body['data'] as { smsSender: { id: string } }
    const send = () =>
      app.during(
        one.send(
          { to: person.From, messageType: 'marketing', text: 'Sale', sender: { id: smsSender.id } },
          { live: true },
        ),
      )
    await write('STOP', person, shared)
    expect(codeOf(await send())).toEqual(SUPPRESSED)
    const own = await requestSender(one, 'Shared')
    expect(codeOf(await send())).toEqual(SUPPRESSED)
    expect((await app.admin('POST', `/sms-senders/${own}/reject`, { reason: 'taken' })).status).toBe(200)
    expect(codeOf(await send())).toEqual(SUPPRESSED)
  })

  test('to a shared number prevents a failover to its connection', async () => {
    const refused = { status: 400, headers: { 'Content-Type': 'application/json' }, body: '{"code":21606}' }
    const rejectingPeer = await startHttpPeer(() => refused)
    await app.admin('PATCH', `/connections/${own}`, { config: { baseUrl: rejectingPeer.url } })
    const send = (to: string) =>
      app.during(
        account.send({ to, channel: 'int_sms', messageType: 'marketing', text: 'Sale' }, { live: true }),
      )
    expect((await send('+447700900601')).status).toBe(200)
    await write('STOP', { From: '+447700900602', To: '+15005550999' }, shared)
    const before = peer.requests.length
    expect(codeOf(await send('+447700900602'))).toEqual([400, 'MESSAGE_REJECTED'])
    expect([peer.requests.length, rejectingPeer.requests.length]).toEqual([before, 2])
    await rejectingPeer.close()
  })

  test('known only to the provider is learned from its rejection of a send', async () => {
    const refused = {
      status: 400,
      headers: { 'Content-Type': 'application/json' },
      body: '{"code":21610,"message":"no"}',
    }
    const optOutPeer = await startHttpPeer(() => refused)
    await app.admin('PATCH', `/connections/${own}`, { config: { baseUrl: optOutPeer.url } })
    const first = await marketing(account, { channel: 'int_sms' })
    expect(codeOf(first)).toEqual([400, 'RECIPIENT_REJECTED'])
    expect((await suppressions()).map(({ source }) => source)).toEqual(['provider', 'provider'])
    expect(codeOf(await marketing(account, { channel: 'int_sms' }))).toEqual(SUPPRESSED)
    expect(optOutPeer.requests).toHaveLength(1)
    await optOutPeer.close()
  })

  test('counts for the account whose message was refused, although another has the same sender name', async () => {
    const body = '{"code":21610,"message":"no"}'
    const optOutPeer = await startHttpPeer(() => ({ status: 400, body }))
    const config = twilioFixture.configFor(optOutPeer.url)
    const forAll = await connect({ priorityOrder: 1, config })
    const [other, third] = [await app.createAccount(), await app.createAccount()]
    await createSender(account, 'Twice')
    await createSender(other, 'Twice')
    const send = (of: TestAccount) => marketing(of, { channel: 'int_sms', sender: { name: 'Twice' } })
    expect(codeOf(await send(account))).toEqual([400, 'RECIPIENT_REJECTED'])
    expect((await suppressions()).map(({ source }) => source)).toEqual(['provider', 'provider'])
    expect(codeOf(await send(account))).toEqual(SUPPRESSED)
    // The provider is still asked for the others.
    expect(codeOf(await send(other))).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(codeOf(await marketing(third, { channel: 'int_sms' }))).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(optOutPeer.requests).toHaveLength(3)
    await app.admin('DELETE', `/connections/${forAll}`)
    await optOutPeer.close()
  })
})

describe('an opt-out that a receipt reports', () => {
  /** Delivers an opt-out receipt for the nth message that Twilio accepts. */
  const refuse = (nth: number) => {
    const MessageSid = `SM${String(nth).padStart(32, '0')}`
    return callBack({ MessageSid, MessageStatus: 'undelivered', ErrorCode: '21610' })
  }
  const parked = async () =>
    (await app.db.query({ name: 't_parked', text: 'select 1 from parked_opt_outs' })).rowCount

  test('fails the message, releases its money and suppresses the recipient', async () => {
    const sent = await marketing(account, { channel: 'int_sms' })
    expect(sent.body['status']).toBe('sent')
    expect((await refuse(peer.requests.length)).status).toBe(200)
    expect((await suppressions()).map(({ to, source }) => [to, source])).toEqual([
      [PERSON, 'provider'],
      [PERSON, 'provider'],
    ])
    expect(codeOf(await marketing())).toEqual(SUPPRESSED)
    expect((await account.message(messageIdOf(sent))).status).toBe('failed')
    expect(await account.wallet()).toMatchObject({ held: 0, captured: 0 })
  })

  test('that arrives before the submit response is kept until its message is known', async () => {
    for (const _ of 'twice') expect((await refuse(peer.requests.length + 1)).status).toBe(200)
    expect(await suppressions()).toEqual([])
    const sent = await marketing()
    expect(sent.body, sent.text).toMatchObject({ status: 'sent' })
    const listed = await app.until(
      () => suppressions(),
      found => found.length > 0,
    )
    expect(listed.map(({ to, channel, reason }) => [to, channel, reason?.includes('21610')]).sort()).toEqual([
      [PERSON, 'int_sms', true],
      [PERSON, 'local_sms', true],
    ])
    expect((await account.message(messageIdOf(sent))).status).toBe('failed')
    expect(codeOf(await marketing())).toEqual(SUPPRESSED)
  })

  test('for an unknown message changes nothing and is deleted later', async () => {
    expect((await refuse(999_999)).status).toBe(200)
    expect(await parked()).toBe(1)
    expect(await suppressions()).toEqual([])
    await app.leap(26 * 3_600_000)
    await app.until(parked, count => count === 0)
  })
})

describe('the list of inbound messages', () => {
  test('is paged and filtered, newest first', async () => {
    for (const [text, From] of [
      ['1', PERSON],
      ['2', '+12025550177'],
      ['3', PERSON],
    ] as const)
      await write(text, { From })
    const texts = async (query: string) => (await inbound(query)).map(({ text }) => text)
    expect(await texts('')).toEqual(['3', '2', '1'])
    expect(await texts(`?from=${encodeURIComponent(PERSON)}`)).toEqual(['3', '1'])
    expect(await texts('?from=+447700900123')).toEqual(['3', '1'])
    expect(await texts('?channel=local_sms')).toEqual(['2'])
    const [newest] = await inbound()
    expect(await texts(`?createdAfter=${newest!.receivedAt}`)).toEqual([])
    expect(await texts(`?createdAfter=${newest!.receivedAt.replace('Z', '+00')}`)).toEqual([])
    expect(await texts('?createdAfter=2000-01-01T00:00Z')).toHaveLength(3)
    expect(
      await texts(`?createdBefore=${new Date(Date.parse(newest!.receivedAt) + 1).toISOString()}`),
    ).toHaveLength(3)
    const page = await app.call('/api/v2/inbound?limit=2', { key: account.liveKey })
    const next = await app.call(`/api/v2/inbound?limit=2&cursor=${page.body['nextCursor']}`, {
      key: account.liveKey,
    })
    expect([
      ...(page.body['data'] as InboundMessageView[]),
      ...(next.body['data'] as InboundMessageView[]),
    ]).toEqual(await inbound())
    expect(next.body['nextCursor']).toBeNull()
    const other = await app.createAccount()
    expect(await inbound('', other)).toEqual([])
  })

  test.each([
    ['?limit=0', 'limit'],
    ['?channel=sms', 'channel'],
    ['?createdAfter=yesterday', 'createdAfter'],
    ['?createdBefore=2026-13-01T00:00:00Z', 'createdBefore'],
    ['?cursor=abc', 'cursor'],
    ['?from=', 'from'],
  ])('returns 400 for %s and names the parameter', async (query, path) => {
    const answer = await app.call(`/api/v2/inbound${query}`, { key: account.liveKey })
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual([path])
  })

  test('requires messages:read, as does the event stream', async () => {
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'sender',
      mode: 'live',
      role: 'member',
      permissions: ['messages:create'],
    })
    const { apiKey } = made.body['data'] as { apiKey: string }
    for (const path of ['/api/v2/inbound', '/api/v2/inbound/events']) {
      expect((await app.call(path, { key: apiKey })).status).toBe(403)
      expect((await app.call(path)).status).toBe(401)
    }
  })
})

describe('the event stream of inbound messages', () => {
  const PATH = '/api/v2/inbound/events'

  test('starts with a reset, sends matching messages as the list shows them, and can be resumed', async () => {
    const follow = (query: string) =>
      openStream(`${app.url}${PATH}${query}`, { 'x-api-key': account.liveKey })
    const [all, some] = [await follow(''), await follow('?from=+447700900123&channel=int_sms')]
    expect([all.status, all.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    for (const stream of [all, some]) expect((await stream.next())?.event).toBe('reset')
    await write('not yours', {}, await connect({ accountId: (await app.createAccount()).id }))
    await write('from here', { From: '+12025550177' })
    const reported = () => app.during(all.nextOf<InboundMessageView>('message'))
    expect(await reported()).toMatchObject({ text: 'from here' })
    await write('from there')
    expect(await reported()).toEqual((await inbound())[0])
    expect(await app.during(some.nextOf('message'))).toMatchObject({ text: 'from there' })
    all.close()
    const again = await openStream(`${app.url}${PATH}`, {
      'x-api-key': account.liveKey,
      'last-event-id': all.place.id,
    })
    expect(
      await app.during(again.nextOf<InboundMessageView>('message', ({ text }) => text === 'from there')),
    ).toBeDefined()
    for (const stream of [again, some]) stream.close()
  })

  test.each([
    ['?channel=sms', 'channel'],
    ['?createdAfter=yesterday', 'createdAfter'],
    ['?from=', 'from'],
  ])('returns 400 for %s and names the parameter', async (query, path) => {
    const answer = await app.call(PATH + query, { key: account.liveKey })
    expect([answer.status, faultPaths(answer)]).toEqual([400, [path]])
  })
})

describe('an inbound message over SMPP', () => {
  let smsc: Smsc

  const FIELDS = {
    source_addr: '447700900777',
    source_addr_ton: 1,
    dest_addr_ton: 3,
    destination_addr: '70123',
  }
  const part = (number: number, text: string, total = 2) => ({
    ...FIELDS,
    esm_class: 0x40,
    short_message: Buffer.concat([Buffer.from([5, 0, 3, 9, total, number]), Buffer.from(text)]),
  })

  beforeEach(async () => {
    smsc = await startSmsc()
    const { port } = smsc
    const config = { host: '127.0.0.1', port, systemId: 'posthorn', password: 'secret' }
    await connect({ provider: 'smpp', accountId: account.id, config })
    await app.during(smsc.bound(1))
    return () => smsc.close()
  })

  test('is stored, and a STOP creates suppressions', async () => {
    smsc.deliver({ ...FIELDS, short_message: 'STOP' })
    await app.during(smsc.acknowledged(1))
    expect(await inbound()).toMatchObject([
      { from: '+447700900777', to: '70123', text: 'STOP', keyword: 'stop', provider: 'smpp' },
    ])
    expect(await suppressions()).toHaveLength(2)
  })

  test('in several parts is stored as one message, in whatever order the parts arrive', async () => {
    smsc.deliver(part(2, 'OP'))
    await app.during(smsc.acknowledged(1))
    expect(await inbound()).toEqual([])
    smsc.deliver(part(1, 'ST'))
    await app.during(smsc.acknowledged(2))
    expect(smsc.acknowledgements).toEqual([0, 0])
    expect(await inbound()).toMatchObject([{ text: 'STOP', keyword: 'stop' }])
    // Another message reuses the part reference.
    smsc.deliver(part(1, 'Hello, '))
    smsc.deliver(part(2, 'world'))
    await app.during(smsc.acknowledged(4))
    expect((await inbound()).map(({ text }) => text)).toEqual(['Hello, world', 'STOP'])
  })

  test('is stored incomplete after a while if parts are missing', async () => {
    smsc.deliver(part(1, 'one ', 3))
    smsc.deliver(part(3, ' three', 3))
    await app.during(smsc.acknowledged(2))
    await app.db.query({
      name: 't_age',
      text: `update inbound_parts set received_at = received_at - interval '11 minutes'`,
    })
    const kept = await app.until(
      () => inbound(),
      messages => messages.length > 0,
    )
    expect(kept).toMatchObject([{ text: 'one … three', keyword: null }])
  })
})
