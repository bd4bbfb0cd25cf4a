import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createSeal } from '../../src/infra/seal.ts'
import { createRandom } from '../../src/lib/random.ts'
import { infobipFixture } from '../channels/infobip.exchange.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { type HttpPeer, type PeerAct, type PeerRequest, startHttpPeer } from '../support/http-peer.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const PUBLIC_URL = 'https://posthorn.example.org'
const TO = '+447700900123'

/** With the master key of the test app. */
const seal = createSeal(createHash('sha256').update('tests').digest(), createRandom())

let app: TestApp
let peer: HttpPeer
let account: TestAccount
let connectionId: string
/** How Infobip responds to a submit, and to a lookup of an attempt. */
let submit: PeerAct
let log: (attemptId: string) => PeerAct

const lost: PeerAct = { status: 500 }
const results = (...found: unknown[]): PeerAct => ({ status: 200, body: JSON.stringify({ results: found }) })
const nothing = () => results()
const taken = (messageId: string) => results({ messageId, status: { groupId: 1, id: 26 } })
const refused = (id: number) => (messageId: string) => results({ messageId, status: { groupId: 5, id } })

const isLookup = (request: PeerRequest) => request.method === 'GET'
const attemptOf = (request: PeerRequest) => new URL(request.path, peer.url).searchParams.get('messageId')!
const lookups = () => peer.requests.filter(isLookup).map(attemptOf)
const submits = () => peer.requests.filter(request => !isLookup(request))

beforeAll(async () => {
  peer = await startHttpPeer(request => (isLookup(request) ? log(attemptOf(request)) : submit))
  app = await startTestApp({ env: { POSTHORN_PUBLIC_URL: PUBLIC_URL, POSTHORN_UNKNOWN_DEADLINE_HOURS: '3' } })
  const answer = await app.admin('POST', '/connections', {
    provider: 'infobip',
    name: 'infobip',
    channels: ['int_sms'],
    config: infobipFixture.configFor(peer.url),
    retryPolicy: { maxAttempts: 2, backoffMs: 1_000 },
  })
  expect(answer.status, answer.text).toBe(201)
  connectionId = (answer.body['data'] as { connection: { id: string } }).connection.id
}, 60_000)
afterAll(async () => {
  await app.stop()
  await peer.close()
})
afterEach(() => {
  peer.requests.length = 0
})

/** A message of a new account whose submit failed with an unknown outcome. */
async function unknownMessage(more: object = {}): Promise<string> {
  submit = lost
  account = await app.createAccount({ balance: 1 })
  const sent = await app.during(
    account.send({ to: TO, channel: 'int_sms', text: 'Hello', ...more }, { live: true }),
  )
  expect(sent.body['status'], sent.text).toBe('queued')
  const id = messageIdOf(sent)
  expect(await account.message(id)).toMatchObject({ status: 'unknown', billing: { state: 'held' } })
  return id
}

const reaches = (id: string, status: string) =>
  app.until(
    () => account.message(id),
    message => message.status === status,
  )

const untilLookups = (count: number) =>
  app.until(
    async () => lookups().length,
    found => found === count,
  )

describe('the lookup of an unknown attempt', () => {
  test('is made after 30 s, 2 min, 10 min and 1 h, then hourly until the deadline', async () => {
    log = nothing
    const id = await unknownMessage()
    for (const [at, [beforeMs, afterMs]] of [
      [28_000, 4_000],
      [84_000, 8_000],
      [8 * MINUTE_MS - 10_000, 12_000],
      [50 * MINUTE_MS - 30_000, 45_000],
      [HOUR_MS - 60_000, 75_000],
    ].entries()) {
      await app.leap(beforeMs!)
      expect(lookups()).toHaveLength(at)
      await app.leap(afterMs!)
      await untilLookups(at + 1)
    }
    expect(new Set(lookups())).toEqual(new Set([`${id}.1`]))
    expect(await account.message(id)).toMatchObject({ status: 'unknown', billing: { state: 'held' } })

    // A little more than two hours have passed; the end of the third is the deadline.
    await app.leap(HOUR_MS)
    const end = await reaches(id, 'sent')
    expect(end.billing.state).toBe('captured')
    const total = lookups().length
    await app.leap(2 * HOUR_MS)
    expect(lookups()).toHaveLength(total)
    expect(submits()).toHaveLength(1)
  })

  test('that finds the message accepted makes it sent and captured, and its receipt is matched', async () => {
    log = taken
    const id = await unknownMessage()
    await app.leap(32_000)
    const sent = await reaches(id, 'sent')
    expect(sent).toMatchObject({ billing: { state: 'captured' }, providerMessageId: `${id}.1` })
    expect((await account.wallet()).held).toBe(0)
    await report(`${id}.1`)
    expect((await reaches(id, 'delivered')).status).toBe('delivered')
    expect(submits()).toHaveLength(1)
    expect(await metric('posthorn_lookups_total{provider="infobip",outcome="accepted"}')).toBe(1)
  })

  test('that finds the message rejected fails it and releases its money', async () => {
    log = refused(52)
    const id = await unknownMessage()
    await app.leap(32_000)
    expect(await reaches(id, 'failed')).toMatchObject({
      errorCode: 'RECIPIENT_REJECTED',
      billing: { state: 'released' },
    })
    expect(await account.wallet()).toMatchObject({ balance: 1, held: 0 })
  })

  test('that proves the message was not accepted sends it again, once, as the next attempt', async () => {
    log = refused(21)
    const id = await unknownMessage()
    submit = infobipFixture.taken(1)
    await app.leap(32_000)
    expect(await reaches(id, 'sent')).toMatchObject({ attempts: 2, billing: { state: 'captured' } })
    expect(submits().map(request => attemptIn(request.body))).toEqual([`${id}.1`, `${id}.2`])
  })

  test('that proves a one-time code was not accepted fails it, since its text was erased', async () => {
    log = refused(21)
    const id = await unknownMessage({ text: undefined, content: { otpCode: '483920' } })
    await app.leap(32_000)
    const failed = await reaches(id, 'failed')
    expect(failed.billing.state).toBe('released')
    expect(submits()).toHaveLength(1)
  })

  test('that fails is repeated at its next time, and nothing is sent again', async () => {
    log = () => 'reset'
    const id = await unknownMessage()
    await app.leap(32_000)
    await untilLookups(1)
    expect((await account.message(id)).status).toBe('unknown')
    log = taken
    await app.leap(92_000)
    await reaches(id, 'sent')
    expect(submits()).toHaveLength(1)
  })

  test('is made thirty seconds after a second attempt that is unknown as well', async () => {
    log = attemptId => (attemptId.endsWith('.1') ? refused(21)(attemptId) : taken(attemptId))
    const id = await unknownMessage()
    await app.leap(32_000)
    await app.until(
      async () => submits().length,
      count => count === 2,
    )
    expect(await reaches(id, 'unknown')).toMatchObject({ attempts: 2 })
    await app.leap(25_000)
    expect(lookups()).toEqual([`${id}.1`])
    await app.leap(10_000)
    await reaches(id, 'sent')
    expect(lookups()).toEqual([`${id}.1`, `${id}.2`])
  })
})

describe('a receipt with the id of our attempt', () => {
  test('settles a message that is unknown', async () => {
    log = nothing
    const id = await unknownMessage()
    const detail = (await account.message(id)).errorMessage
    expect(detail).toEqual(expect.any(String))
    await report(`${id}.1`)
    expect(await reaches(id, 'delivered')).toMatchObject({
      billing: { state: 'captured' },
      providerMessageId: `${id}.1`,
    })
    expect((await account.wallet()).held).toBe(0)
    // The detail of the unknown outcome is now shown by the attempt only.
    const { errorMessage, timeline } = await account.message(id)
    expect(errorMessage).toBeNull()
    expect(timeline.find(({ event }) => event === 'attempt')).toMatchObject({ detail })
  })

  test('that arrives before the submit response is kept, and settles the message if none comes', async () => {
    log = nothing
    submit = 'silent'
    account = await app.createAccount({ balance: 1 })
    const sent = await app.during(account.send({ to: TO, channel: 'int_sms', text: 'Hello' }, { live: true }))
    const id = messageIdOf(sent)
    await report(`${id}.1`)
    expect((await account.message(id)).status).toBe('sending')
    expect(await reaches(id, 'delivered')).toMatchObject({ billing: { state: 'captured' }, attempts: 1 })
    const statuses = (await account.message(id)).timeline.flatMap(entry =>
      'status' in entry ? [entry.status] : [],
    )
    expect(statuses).toContain('unknown')
    expect(lookups()).toEqual([])
  })

  test('of an earlier attempt settles nothing', async () => {
    log = attemptId => (attemptId.endsWith('.1') ? refused(21)(attemptId) : nothing())
    const id = await unknownMessage()
    await app.leap(32_000)
    await app.until(
      async () => submits().length,
      count => count === 2,
    )
    await reaches(id, 'unknown')
    await report(`${id}.1`)
    await app.leap(5_000)
    expect((await account.message(id)).status).toBe('unknown')
    await report(`${id}.2`)
    await reaches(id, 'delivered')
  })

  test('for an attempt reported as not accepted settles the message instead of the pending retry', async () => {
    const retries = (backoffMs: number) =>
      app.admin('PATCH', `/connections/${connectionId}`, { retryPolicy: { maxAttempts: 2, backoffMs } })
    await retries(MINUTE_MS)
    submit = { status: 200, body: JSON.stringify({ messages: [{ status: { groupId: 5, id: 21 } }] }) }
    account = await app.createAccount({ balance: 1 })
    const sent = await app.during(account.send({ to: TO, channel: 'int_sms', text: 'Hello' }, { live: true }))
    const id = messageIdOf(sent)
    await reaches(id, 'queued')
    await report(`${id}.1`)
    const { timeline } = await reaches(id, 'delivered')
    expect(timeline.map(({ event, status, outcome }) => status ?? `${event}: ${outcome}`)).toEqual([
      'queued',
      'attempt: retry',
      'sent',
      'delivered',
    ])
    await app.leap(2 * MINUTE_MS)
    expect(submits()).toHaveLength(1)
    expect(await account.message(id)).toMatchObject({
      attempts: 1,
      billing: { state: 'captured' },
      errorMessage: null,
    })
    expect((await account.wallet()).held).toBe(0)
    await retries(1_000)
  })

  test('on another connection settles nothing', async () => {
    log = nothing
    const id = await unknownMessage()
    const other = await app.admin('POST', '/connections', {
      provider: 'infobip',
      name: 'another',
      channels: ['int_sms'],
      config: infobipFixture.configFor(peer.url),
      priorityOrder: 900,
    })
    const { connection } = other.body['data'] as { connection: { id: string } }
    await report(`${id}.1`, connection.id)
    await app.leap(5_000)
    expect((await account.message(id)).status).toBe('unknown')
    await report(`${id}.1`)
    await reaches(id, 'delivered')
  })
})

test('an unknown message appears in the list, in its timeline and in the metrics', async () => {
  log = nothing
  const id = await unknownMessage()
  expect((await account.messages('?status=unknown')).map(message => message.messageId)).toEqual([id])
  const { timeline } = await account.message(id)
  expect(timeline.at(-1)).toMatchObject({ event: 'status', status: 'unknown' })
  expect(await metric('posthorn_unknown_messages')).toBeGreaterThanOrEqual(1)
})

/** Sends a receipt to the webhook of a connection, as Infobip does. */
async function report(messageId: string, connection = connectionId): Promise<void> {
  const token = seal.hashSecret(`receipts:${connection}`).toString('base64url', 0, 16)
  const body = { results: [{ messageId, status: { groupId: 3, id: 5 }, doneAt: '2026-01-02T03:04:05Z' }] }
  const answer = await app.during(
    app.call(`/webhooks/infobip/${connection}?t=${token}`, { method: 'POST', body }),
  )
  expect(answer.status, answer.text).toBe(200)
}

async function metric(line: string): Promise<number> {
  const { text } = await app.call('/metrics')
  const found = text.split('\n').find(each => each.startsWith(`${line} `))
  return Number(found?.split(' ').at(-1) ?? Number.NaN)
}

function attemptIn(body: string): string {
  return (JSON.parse(body) as { messages: { destinations: { messageId: string }[] }[] }).messages[0]!
    .destinations[0]!.messageId
}
